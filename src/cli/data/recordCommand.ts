/** `perpd record`: records what the venue shows until a signal ends it. */

import { isoTime } from '../../base/clock.ts'
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { venueSource } from '../../history/importCandles.ts'
import { record, recordEveryMs } from '../../history/recorder.ts'
import { createRecording } from '../../history/recordingFile.ts'
import { openStore } from '../../history/store.ts'
import { marketsNamed } from '../../protocol/marketName.ts'
import type { Call } from '../call/command.ts'
import { withApi } from '../subaccount/subaccountParties.ts'

/** Records the markets that are named, or all. */
export async function recordData(call: Call): Promise<number> {
  const { loaded, positionals, out, err } = call
  const { config } = loaded
  const { folder } = config.history
  const all = [...config.venue.chain.facts.markets.values()]
  const symbols = positionals.flatMap((name) => {
    const found = marketsNamed(all, name).map(({ symbol }) => symbol)
    if (found.length > 0) return found
    throw new CommandError(`No market of ${config.venue.chain.name} is called ${name}.`, exitCodes.notFound)
  })
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort())
  const recording = createRecording(folder)
  await withApi(call, async (api) => {
    const names = symbols.length === 0 ? 'all markets' : symbols.join(', ')
    out(
      `Recording ${names} into ${folder}/recorded: prices and capacity each ${recordEveryMs.tickers / 1_000} s, pools each ${recordEveryMs.values / 1_000} s. Ctrl-C ends it.`,
    )
    const problem = (text: string): void => err(`${isoTime(systemClock.now()).slice(0, 19)}Z ${text}`)
    const parts = { api, clock: systemClock, store: openStore(folder), recording, symbols }
    await record({ ...parts, source: venueSource(config.isPaper), problem }, ending.signal)
  })
  return exitCodes.ok
}
