import { agentStages } from './agent-stages.ts'
import { calendarStages } from './calendar-stages.ts'
import { corpusStages } from './corpus-stages.ts'
import { groupStages } from './group-stages.ts'
import { plannerStages } from './planner-stages.ts'
import { taskStages } from './task-stages.ts'

/** The stages of parts that have a file of their own. */
export const partStages = {
  ...agentStages,
  ...calendarStages,
  ...taskStages,
  ...groupStages,
  ...corpusStages,
  ...plannerStages,
}
