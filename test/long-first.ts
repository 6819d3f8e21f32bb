import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, on a machine of two cores. Begun late, one of them would keep one core busy and leave the other idle. */
const long = [
  'test/sim/first-half.test.ts',
  'test/sim/second-half.test.ts',
  'test/faults/faults.test.ts',
  'test/e2e/cli-parity.test.ts',
  'test/e2e/cli-start.test.ts',
  'test/e2e/features.test.ts',
  'test/e2e/cli-server.test.ts',
  'test/doors/parity-rest.test.ts',
  'test/parts/corpus/restore-kill.test.ts',
  'test/parts/admission/page.test.ts',
  'test/parts/agents/tasks/ten-days.test.ts',
  'test/parts/corpus/kill.test.ts',
]

/** The order in which vitest begins files: projects as the config lists them, the long files of each first, then as vitest itself chooses. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = this.ctx.projects.map(({ name }) => name)
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = long.indexOf(relative(this.ctx.config.root, moduleId))
      return place < 0 ? long.length : place
    }
    const place = ({ project }: TestSpecification): number => projects.indexOf(project.name)
    return (await super.sort(files)).sort((a, b) => place(a) - place(b) || rank(a) - rank(b))
  }
}
