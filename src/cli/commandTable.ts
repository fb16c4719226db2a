/** Every command of the command line. */

import type { Command } from './call/command.ts'
import lines from './call/commandLines.json' with { type: 'json' }
import type { RowLines } from './call/sentCommands.ts'
import { commandsWith } from './commandPlaces.ts'

/** All commands, in the order of the help. */
export const commands: readonly Command[] = commandsWith(lines as unknown as readonly RowLines[])
