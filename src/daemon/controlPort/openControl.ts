/** Opens the control port, or another one: a program that has the port keeps no daemon from managing what it holds. */
import {
  type ControlOptions,
  type ControlPortError,
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
  return await createControlServer({ ...options, moved: movedBy(emit) })
}

/** The same for a process with several accounts. Throws as `openControl`. */
export async function openDesk(emit: Emit, options: DeskOptions): Promise<ControlServer> {
  return await createDeskServer({ ...options, moved: movedBy(emit) })
}

/** Reports that a server has another port than the one that is configured. */
function movedBy(emit: Emit) {
  return ({ url }: ControlServer, { address, reason }: ControlPortError['facts']): void =>
    emit({ type: 'daemon.portMoved', wanted: String(address), url, reason: String(reason) })
}
