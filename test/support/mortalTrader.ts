/** A daemon whose process ends at a boundary of a story's writes, and that is started again. */
import { expect } from 'vitest'
import type { Trader } from '../../src/daemon/trader.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import { type TestTraderParts, testTrader } from './trader.ts'

/** A daemon that ends at most once, and goes on in another process with the same journal. */
export interface MortalTrader {
  readonly journal: Journal
  /** Starts the first process. */
  start(): Promise<void>
  /** From here on the boundaries before and after each record count. */
  count(): void
  /** How many counted so far. */
  boundaries(): number
  /** Whether its process has ended and none is started in its place. */
  isDown(): boolean
  /** The newest process. Throws before the first. */
  now(): Trader
  /** Ends the newest process for good. */
  abort(): void
  /** Starts another process where the last one has ended. */
  revive(): Promise<void>
  /** Lets time pass, and then starts another process where the last one has ended. */
  advance(ms: number): Promise<void>
  /** Lets half seconds pass until something is so; fails where it is not after `turns` of them. */
  goOn(isSo: () => boolean, turns?: number): Promise<void>
  /** Asks for this every 50 ms, of whichever process there is, until an answer is enough; by default: until it is yes. */
  ask(command: OperatorCommand, isEnough?: (answer: { readonly ok: boolean }) => boolean): Promise<void>
}

/** Makes a daemon that ends at the boundary of this number, from 1; 0: at none. `parts` are asked for at each start. */
export function mortalTrader(
  diesAt: number,
  clock: { advance(ms: number): Promise<void> },
  parts: () => TestTraderParts | Promise<TestTraderParts>,
): MortalTrader {
  const journal = createMemoryJournal()
  let boundaries = 0
  let isCounting = false
  let isDown = false
  let trader: Trader | undefined

  async function start(): Promise<void> {
    const made = testTrader({
      ...(await parts()),
      journal: dyingJournal(journal, () => {
        if (!isCounting) return false
        boundaries += 1
        if (boundaries !== diesAt) return false
        trader?.abort()
        isDown = true
        return true
      }),
    })
    trader = made.trader
    isDown = false
    await trader.start()
  }
  async function revive(): Promise<void> {
    if (isDown) await start()
  }
  async function advance(ms: number): Promise<void> {
    await clock.advance(ms)
    await revive()
  }
  return {
    journal,
    start,
    count() {
      isCounting = true
    },
    boundaries: () => boundaries,
    isDown: () => isDown,
    now() {
      if (trader === undefined) throw new Error('no process was started')
      return trader
    },
    abort: () => trader?.abort(),
    revive,
    advance,
    async goOn(isSo, turns = 200) {
      for (let turn = 0; turn < turns && !isSo(); turn += 1) await advance(500)
      expect({ diesAt, isSo: isSo() }).toEqual({ diesAt, isSo: true })
    },
    async ask(command, isEnough = ({ ok }) => ok) {
      let isAnswered = false
      while (!isAnswered) {
        void trader?.operate(command, { by: 'ann', via: 'control' }).then((answer) => {
          isAnswered ||= isEnough(answer)
        })
        await advance(50)
      }
    },
  }
}

/** What one process has of the journal: from the boundary on at which it ends, nothing of it is written or answered. */
function dyingJournal(journal: Journal, boundary: () => boolean): Journal {
  let isOver = false
  const guarded =
    <P, R>(write: (record: P) => Promise<R>) =>
    async (record: P): Promise<R> => {
      if (!isOver) isOver = boundary()
      if (isOver) return new Promise<never>(() => {})
      const written = await write(record)
      if (!isOver) isOver = boundary()
      return isOver ? new Promise<never>(() => {}) : written
    }
  const own: Partial<Journal> = {
    append: guarded((record) => journal.append(record)),
    appendAccount: guarded((record) => journal.appendAccount(record)),
    appendTogether: guarded((records) => journal.appendTogether(records)),
  }
  return new Proxy(journal, {
    get(target, name: keyof Journal) {
      if (name in own) return own[name]
      const member: unknown = target[name]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
