import type { Command } from 'commander'

const unfinished = new WeakMap<Command, (command: Command) => void>()

/** Has a command made whole once it is asked for: each command line makes them all, and asks for one. */
export function finishLater(command: Command, finish: (command: Command) => void): Command {
  unfinished.set(command, finish)
  return command
}

/** The command with all its flags. */
export function finished(command: Command): Command {
  const finish = unfinished.get(command)
  unfinished.delete(command)
  finish?.(command)
  return command
}

/** A command and all below it, for whoever shows the whole of them. */
export function wholly(command: Command): Command {
  for (const each of command.commands) wholly(each)
  return finished(command)
}
