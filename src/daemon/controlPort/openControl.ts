/** Opens the control port, or another one: a program that has the port keeps no daemon from managing what it holds. */
import {
  type ControlOptions,
  type ControlPlace,
  ControlPortError,
  type ControlServer,
  createControlServer,
  createDeskServer,
  type DeskOptions,
} from '../../control/server.ts'
import type { Emit } from '../../domain/event.ts'

/**
 * Serves at the port that is configured; where that cannot be opened, at a free one of the same address, and then of this machine.
 * The file next to the tokens names the port that it is, so that commands find it.
 *
 * @throws ControlPortError of the first when no port can be opened.
 */
export async function openControl(emit: Emit, options: ControlOptions): Promise<ControlServer> {
  return await openSomewhere(options, createControlServer, movedBy(emit))
}

/** The same for a process with several accounts. Throws as `openControl`. */
export async function openDesk(emit: Emit, options: DeskOptions): Promise<ControlServer> {
  return await openSomewhere(options, createDeskServer, movedBy(emit))
}

/** Reports that a server has another port than the one that is configured. */
function movedBy(emit: Emit) {
  return ({ url }: ControlServer, { address, reason }: ControlPortError['facts']): void =>
    emit({ type: 'daemon.portMoved', wanted: String(address), url, reason: String(reason) })
}

/** The same for any server; `moved` hears of another port, and why it is another. Throws as `openControl`. */
export async function openSomewhere<Options extends ControlPlace>(
  options: Options,
  create: (options: Options) => Promise<ControlServer>,
  moved: (server: ControlServer, facts: ControlPortError['facts']) => void,
): Promise<ControlServer> {
  try {
    return await create(options)
  } catch (error) {
    if (!(error instanceof ControlPortError)) throw error
    const server = await elsewhere(options, create, error)
    moved(server, error.facts)
    return server
  }
}

async function elsewhere<Options extends ControlPlace>(
  options: Options,
  create: (options: Options) => Promise<ControlServer>,
  first: ControlPortError,
): Promise<ControlServer> {
  for (const host of [options.host, '127.0.0.1']) {
    try {
      return await create({ ...options, host, port: 0 })
    } catch (error) {
      if (!(error instanceof ControlPortError)) throw error
    }
  }
  throw first
}
