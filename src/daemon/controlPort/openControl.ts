/** Opens the control port, or another one: a program that has the port keeps no daemon from managing what it holds. */
import {
  type ControlOptions,
  ControlPortError,
  type ControlServer,
  createControlServer,
} from '../../control/server.ts'
import type { Emit } from '../../domain/event.ts'

/**
 * Serves at the port that is configured; where that cannot be opened, at a free one of the same address, and then of this machine.
 * The file next to the tokens names the port that it is, so that commands find it.
 *
 * @throws ControlPortError of the first when no port can be opened.
 */
export async function openControl(emit: Emit, options: ControlOptions): Promise<ControlServer> {
  try {
    return await createControlServer(options)
  } catch (error) {
    if (!(error instanceof ControlPortError)) throw error
    const server = await elsewhere(options, error)
    const { address, reason } = error.facts
    emit({ type: 'daemon.portMoved', wanted: String(address), url: server.url, reason: String(reason) })
    return server
  }
}

async function elsewhere(options: ControlOptions, first: ControlPortError): Promise<ControlServer> {
  for (const host of [options.host, '127.0.0.1']) {
    try {
      return await createControlServer({ ...options, host, port: 0 })
    } catch (error) {
      if (!(error instanceof ControlPortError)) throw error
    }
  }
  throw first
}
