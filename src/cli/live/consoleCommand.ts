/** `perpd console`: a link to the web console, made by the running daemon. */
import { exitCodes } from '../../config/exit.ts'
import type { Call } from '../call/command.ts'
import { askLink } from '../call/daemonClient.ts'
import { wordsIn } from '../output/fitTable.ts'

/** Prints a new link, alone on its line. Exit code 3 when no daemon answers, 1 when it serves no console. */
export async function consoleLink({ loaded, flags, width, out }: Call): Promise<number> {
  const link = await askLink(loaded, flags.has('read') ? 'read' : 'operate')
  if (flags.has('json')) {
    out(JSON.stringify(link, undefined, 2))
    return exitCodes.ok
  }
  const may = link.role === 'read' ? 'can read everything and command nothing' : 'can command as you can'
  out(link.url)
  for (const line of wordsIn(`It works once, within ten minutes, and anyone who opens it ${may}.`, width))
    out(line)
  return exitCodes.ok
}
