/**
 * Kept connections that idled too long are closed by a timer, which fires late when the process was held up: stopped, starved
 * of the processor, waiting for a slow disk, on a machine that slept. Its next request would then leave by a connection that
 * the other side has closed long since, and a submit that leaves there is lost, with an outcome that nobody knows before its
 * deadline. So the age of every idle connection is looked at again when a request is about to take one.
 */
import type { Agent } from 'node:http'
import type { Socket } from 'node:net'
import { ageMsOf, type Clock, type Moment, momentOf } from '../../base/clock.ts'

/** Since when a connection idles, and how long it may. */
interface Idle extends Moment {
  readonly mostMs: number
}

/**
 * Watches an agent that keeps connections and takes the newest first. What comes back closes those that idled for as long as
 * they may, which is the agent's `timeout` or less where the server told less; call it before each request.
 */
export function watchIdle(agent: Agent, clock: Pick<Clock, 'now' | 'monotonicMs'>): () => void {
  const idleSince = new WeakMap<object, Idle>()
  const keep = agent.keepSocketAlive.bind(agent)
  agent.keepSocketAlive = (socket) => {
    const isKept = keep(socket)
    // The agent has just set it: by its own limit and by what the server's Keep-Alive header says.
    const mostMs = (socket as Socket).timeout || Number.POSITIVE_INFINITY
    idleSince.set(socket, { ...momentOf(clock), mostMs })
    return isKept
  }

  function isTooOld(socket: Socket): boolean {
    const idle = idleSince.get(socket)
    return idle !== undefined && ageMsOf(idle, clock) >= idle.mostMs
  }

  return () => {
    for (const sockets of Object.values(agent.freeSockets)) {
      if (sockets === undefined) continue
      // The agent passes over closed ones at the old end of the list alone: all that are older go with one that is too old.
      const newest = sockets.findLastIndex(isTooOld)
      for (const socket of sockets.slice(0, newest + 1)) socket.destroy()
    }
  }
}
