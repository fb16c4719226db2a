/** The recording of a running daemon (`history.record`): what the venue shows, and the facts of each decision. Loaded where it is on. */
import { createApi } from '../../api/client.ts'
import { createNodeFetch } from '../../api/transport/nodeFetch.ts'
import { reasonOf } from '../../base/errors.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import type { Emit } from '../../domain/event.ts'
import { encodeExact } from '../../domain/records.ts'
import type { TakeTurn } from '../../engine/callKind.ts'
import { venueSource } from '../../history/importCandles.ts'
import { record } from '../../history/recorder.ts'
import { createRecording } from '../../history/recordingFile.ts'
import { openStore } from '../../history/store.ts'
import type { Log } from '../../monitor/log/log.ts'
import { decisionsIn } from '../../strategy/kindMemory.ts'

/** Events that say what was decided on, and what became of it. */
const recorded: ReadonlySet<string> = new Set([
  'tick.done',
  'tick.skipped',
  'tick.failed',
  'decision.made',
  'decision.denied',
  'decision.admitted',
  'decision.invalid',
  'order.moved',
  'order.filled',
])

/** The end waits so long for an answer that is on its way, ms. */
const LAST_ANSWER_MS = 500

/** A recording beside a daemon. */
export interface DaemonRecording {
  readonly listen: Emit
  /** Takes the turns of kinds: those with decisions are recorded, so that a decision can be replayed to its kind. */
  readonly recordTurn: TakeTurn
  close(): Promise<void>
}

/** Begins a recording over separate connections. It never ends a daemon: what it cannot write is logged, and it stops. */
export function openRecording(
  config: Config,
  hosts: { readonly api: readonly string[]; readonly oracle: readonly string[] },
  log: Log,
): DaemonRecording {
  const { folder } = config.history
  const recording = createRecording(folder)
  const ending = new AbortController()
  const failed = (error: unknown): void => {
    ending.abort()
    log.note('recording.failed', 'error', `recording has ended, trading continues: ${reasonOf(error)}`)
  }
  const connections = createNodeFetch()
  const api = createApi({
    chain: config.venue.chain,
    hosts,
    fetch: connections.fetch,
    clock: systemClock,
    random: Math.random,
    limits: config.api,
  })
  const problem = (text: string): void => log.note('recording.missed', 'debug', text)
  const parts = { api, clock: systemClock, store: openStore(folder), recording, symbols: [] }
  const over = record({ ...parts, source: venueSource(config.isPaper), problem }, ending.signal).catch(failed)
  const writing = (write: (atMs: number) => void): void => {
    if (ending.signal.aborted) return
    try {
      write(systemClock.now())
    } catch (error) {
      failed(error)
    }
  }
  return {
    listen(event) {
      if (recorded.has(event.type)) writing((atMs) => recording.event(atMs, event))
    },
    recordTurn({ loaded, scene, returned }) {
      if (decisionsIn(returned).length === 0) return
      const { name, strategy, params, instance } = loaded
      const turn = { kind: strategy.kind, params, instance, scene, returned }
      writing((atMs) => recording.turn(atMs, name, encodeExact(turn)))
    },
    async close() {
      ending.abort()
      // A host may still owe an answer: nobody waits for it.
      await Promise.race([over, systemClock.sleep(LAST_ANSWER_MS)])
      await recording.close()
      connections.close()
    },
  }
}
