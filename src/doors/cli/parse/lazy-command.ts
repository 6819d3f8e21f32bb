import type { Command } from 'commander'

const unfinished = new WeakMap<Command, (command: Command) => void>()

/** Completes a command when it is used: every start creates all commands, and uses one. */
export function finishLater(command: Command, finish: (command: Command) => void): Command {
  unfinished.set(command, finish)
  return command
}

export function finished(command: Command): Command {
  const finish = unfinished.get(command)
  unfinished.delete(command)
  finish?.(command)
  return command
}

/** A command and all below it, completed. */
export function wholly(command: Command): Command {
  for (const each of command.commands) wholly(each)
  return finished(command)
}
