/**
 * Machines that share one journal, in a world with faults: requests and answers that are lost or late, partitions, pauses, ends of processes,
 * failovers. Each machine opens the journal, makes one order after the other and sends each once it is armed; then all of that is held
 * against what must never happen. Time and chance come from the seed.
 */
import { createAccountJournal } from '../../src/account/halts/accountJournal.ts'
import { createScheduler } from '../../src/backtest/lab/scheduler.ts'
import type { WallClock } from '../../src/base/clock.ts'
import { BaseError } from '../../src/base/errors.ts'
import type { SignEntry } from '../../src/domain/guardTable.ts'
import { encodeRecord, type JournalRecord } from '../../src/domain/records.ts'
import { defaultLeaseTimes } from '../../src/journal/fenced/leaseTimes.ts'
import { openSharedStore } from '../../src/journal/fenced/openShared.ts'
import { createJournal } from '../../src/journal/groupCommit.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { defaultMaintenance } from '../../src/journal/maintenance.ts'
import { noteLoss } from '../../src/journal/service/lostRecords.ts'
import { hashOf } from '../../src/journal/sqlite/hashChain.ts'
import { randomOf } from '../simulation/random.ts'
import { type ModelDisk, type ModelNetwork, ModelServer, type ModelState, openDisk } from './sharedModel.ts'
import { hexOf, storyOf } from './story.ts'

/** Faults come for this long, ms. */
const FAULTS_MS = 90_000
/** Then the world is sound, and somebody must make orders again. */
const UNTIL_MS = 150_000
/** A replaced server is distrusted for so long, ms. */
const QUIET_MS = 8_000
/** Way of an append, there and back each, in a world whose server commits slowly, ms. */
const [LEAST_SLOW_MS, MOST_SLOW_MS] = [1_000, 3_000]
/** A machine that has nothing to write knows so long after its right was taken that it is gone, where its network lets it, ms. */
const KNOWS_MS = 15_000

/** What must never happen, and did. */
export interface Violation {
  readonly invariant: string
  readonly text: string
  readonly atMs: number
}

interface Machine extends ModelDisk {
  readonly name: string
  life: number
  pausedUntilMs: number
  partedUntilMs: number
  /** It gives the right back in good order. */
  isLeaving: boolean
  /** The holder of its newest opening. */
  holder: string
  /** Texts of records that it was told of, and of those its open journal was. */
  readonly acknowledged: Set<string>
  own: Set<string>
  /** It found records missing, and waits for its operator. */
  isRefused: boolean
}

class Broken extends Error {}

/** Runs the world of a seed; gives what it violated, and how many orders were sent. */
export async function runSharedWorld(
  seed: number,
): Promise<{ readonly violation: Violation | undefined; readonly sent: number }> {
  const random = randomOf(seed, 'shared')
  const rests = randomOf(seed, 'rests')
  const backs = randomOf(seed, 'backs')
  const losesTakings = seed % 5 === 2
  /** Nothing fails in this world; its server takes seconds for each commit, and answers a beat at once. */
  const isSlow = seed % 11 === 10
  const slows = randomOf(seed, 'slows')
  const scheduler = createScheduler()
  let violation: Violation | undefined
  const broken = (invariant: string, text: string): never => {
    violation ??= { invariant, text, atMs: scheduler.nowMs }
    throw new Broken(text)
  }
  const sent = new Map<number, number>()
  /** Texts that a failover took back although they were acknowledged. */
  const takenBack = new Set<string>()
  let isLossy = false
  let takes = 0
  /** Orders that were made: no number comes twice, whatever is lost. */
  let made = 0
  const server = new ModelServer((before, after) => {
    if (after.head.holder !== before.head.holder && after.head.holder !== '') {
      takes += 1
      if (before.head.holder !== '') mayLoseTaking(before, after)
    }
    let hash = before.records.at(-1)?.hash ?? ''
    for (const [index, record] of after.records.slice(before.records.length).entries()) {
      hash = hashOf(hash, before.records.length + index + 1, record.rows.record[4])
      if (record.hash === hash && record.seq === before.records.length + index + 1) continue
      violation ??= {
        invariant: 'chain',
        text: `record ${record.seq} does not follow`,
        atMs: scheduler.nowMs,
      }
    }
  })

  /**
   * In some worlds a standby that is behind takes over soon after a taking: it knows neither that nor what came after it. Who had the right before is
   * parted until then, and who took it ends.
   */
  function mayLoseTaking(before: ModelState, after: ModelState): void {
    if (!losesTakings || !backs.chance(0.7)) return
    const machineOf = (holder: string) => machines.find((each) => each.holder === holder)
    const [one, other] = [machineOf(before.head.holder), machineOf(after.head.holder)]
    const inMs = backs.int(200, 4_000)
    if (one !== undefined) one.partedUntilMs = Math.max(one.partedUntilMs, scheduler.nowMs + inMs)
    scheduler.after(inMs, () => {
      const { records } = server.state
      if (isSound() || !before.records.every((record, at) => record === records[at])) return
      isLossy = true
      for (const { rows } of records.slice(before.records.length)) takenBack.add(rows.record[4])
      server.goBackTo(before)
      // Whoever had the right there has it again.
      takes += 1
      if (other === undefined || other === one) return
      other.life += 1
      scheduler.after(backs.int(1_000, 9_000), () => start(other))
    })
  }

  const machines = ['a', 'b', 'c'].map(
    (name): Machine => ({
      ...{
        name,
        life: 0,
        pausedUntilMs: 0,
        partedUntilMs: 0,
        isLeaving: false,
        holder: '',
        mark: undefined,
        lines: [],
      },
      ...{ acknowledged: new Set<string>(), own: new Set(), isRefused: false },
    }),
  )
  const isSound = (): boolean => scheduler.nowMs >= FAULTS_MS
  const stored = (): Set<string> => new Set(server.state.records.map(({ rows }) => rows.record[4]))

  function networkOf(machine: Machine, sleep: (ms: number) => Promise<void>): ModelNetwork {
    return {
      fate() {
        if (scheduler.nowMs < machine.partedUntilMs) return 'lost'
        if (isSlow || isSound() || random.chance(0.9)) return 'goes'
        return random.pick(['lost', 'unanswered', 'late'] as const)
      },
      async travel(request) {
        const isCommit = isSlow && request === 'append'
        await sleep(isCommit ? slows.int(LEAST_SLOW_MS, MOST_SLOW_MS) : random.int(1, 15))
        if (scheduler.nowMs < machine.pausedUntilMs) await sleep(machine.pausedUntilMs - scheduler.nowMs)
      },
      later: (work) => void scheduler.after(random.int(10, 9_000), work),
    }
  }

  async function live(machine: Machine): Promise<void> {
    machine.life += 1
    const { life, name } = machine
    const isAlive = (): boolean => machine.life === life
    const clock = scheduler.clock(0, isAlive)
    const sleep = async (ms: number): Promise<void> => {
      await clock.sleep(ms)
      while (scheduler.nowMs < machine.pausedUntilMs)
        await clock.sleep(machine.pausedUntilMs - scheduler.nowMs)
    }
    const later = (ms: number, run: () => void): (() => void) =>
      scheduler.after(ms, () => {
        if (!isAlive()) return
        if (scheduler.nowMs < machine.pausedUntilMs) later(machine.pausedUntilMs - scheduler.nowMs, run)
        else run()
      })
    for (let opening = 1; ; opening += 1) {
      const dead = machine.holder
      machine.holder = `${name}/${life} ${opening}`
      machine.own = new Set()
      const connect = () => server.connect(networkOf(machine, sleep))
      const takesBefore = takes
      try {
        const { store, ledger, snapshotSeq, mayMissRecords } = await openSharedStore({
          connections: { writer: connect(), beats: connect(), reader: connect() },
          clock: { ...clock, sleep },
          ...{
            later,
            times: defaultLeaseTimes,
            holder: machine.holder,
            settleMs: losesTakings ? 20_000 : 6_000,
          },
          isOwnDead: (holder) => holder === dead,
          ...openDisk(machine),
        })
        if (!isAlive()) return
        const there = stored()
        // As the store was opened on them: reading the guard may take until others have written more.
        const { records } = server.state
        for (const text of machine.acknowledged)
          if (!there.has(text)) broken('mark', `${name} opened on less than it wrote`)
        const signed = new Set((await store.openGuardTable()).entries.map(({ digest }) => digest))
        for (const record of records) {
          // A failover meanwhile took it back, and the guard's line with it: nothing was signed for it, or its machine has the line.
          if (!server.state.records.includes(record)) continue
          const { rows } = record
          const digest = /"digest":"(0x[0-9a-f]+)"/.exec(rows.record[4])?.[1]
          if (rows.record[2] === 'attempt.armed' && !signed.has(digest as `0x${string}`))
            broken('guard', `${name} does not know that ${digest} was signed`)
        }
        const journal = createJournal({
          ...{ store, ledger, snapshotSeq, soon: scheduler.soon },
          maintenance: { ...defaultMaintenance, snapshotEveryRecords: 15, checkpointAfterCommits: 9, later },
        })
        try {
          if (mayMissRecords === true) {
            const lost = { kind: 'loss.possible', lastFound: journal.summary().records } as const
            await noteLoss(journal, lost, { nowMs: clock.now(), liveMs: QUIET_MS })
          }
          await work(machine, journal, clock, sleep)
          await journal.close()
        } catch (error) {
          hold(machine, error, takesBefore + 1)
          await journal.close()
        }
      } catch (error) {
        if (!isAlive()) return
        hold(machine, error, takesBefore)
        if (machine.isRefused) return
      }
      await sleep(random.int(300, 2_500))
    }
  }

  /** Tells whether a fault is one that may be. */
  function hold(machine: Machine, error: unknown, takesBefore: number): void {
    if (!(error instanceof BaseError)) throw error
    const { code } = error
    if (code === 'JOURNAL_FENCED' && takes <= takesBefore)
      broken('fence', `${machine.name} is fenced, and nobody took over`)
    if (code === 'JOURNAL_ROLLED_BACK') {
      if (!isLossy) broken('heal', `${machine.name} halts: ${error.shortMessage}`)
      machine.isRefused = true
    }
    if (code === 'JOURNAL_CORRUPT') broken('corrupt', `${machine.name}: ${error.message}`)
  }

  async function work(
    machine: Machine,
    journal: Journal,
    clock: WallClock,
    sleep: (ms: number) => Promise<void>,
  ): Promise<void> {
    const accountJournal = createAccountJournal({ journal, clock })
    const write = async (record: JournalRecord): Promise<void> => {
      await journal.append(record)
      machine.acknowledged.add(encodeRecord(record))
      machine.own.add(encodeRecord(record))
    }
    const armedHere = new Set<number>()
    let isWorking = true
    if (isSlow) watchBeats()
    while (!machine.isLeaving) {
      if (!isSound() && rests.chance(0.01)) await rest(machine, journal, sleep, rests.int(5_000, 40_000))
      const [open] = journal.openIntents()
      if (open === undefined && accountJournal.lossHalt() !== undefined) {
        await sleep(200)
        continue
      }
      const n = open === undefined ? ++made : Number(open.intent.intentId.split('-')[1])
      const story = storyOf(n)
      const attempt = open?.attempts.at(-1)
      if (open === undefined) await write(story.accepted())
      else if (attempt === undefined) await write(story.preparing())
      else if (attempt.phase === 'PREPARING') {
        if (journal.lease.lost() !== undefined) {
          await sleep(200)
          continue
        }
        const { head } = server.state
        if (head.holder !== '' && head.holder !== machine.holder && head.epoch > journal.lease.epoch)
          broken('sign', `${machine.name} signs, and ${head.holder} has the right`)
        const digest = hexOf(`${n}-${machine.holder}`)
        machine.lines.push(entryOf(n, digest))
        await write(story.armed(1, { digest, deadlineSeconds: 2_000_000_000 }))
        armedHere.add(n)
        sent.set(n, (sent.get(n) ?? 0) + 1)
        if ((sent.get(n) ?? 0) > 1) broken('once', `order ${n} is sent twice`)
      } else if (attempt.phase === 'ARMED' && armedHere.has(n)) await write(story.sent())
      else if (attempt.phase === 'ARMED' || attempt.phase === 'ACKED') await write(story.dead())
      else await write(story.closed())
      await sleep(random.int(20, 250))
    }
    isWorking = false
    machine.isLeaving = false

    /** A slow commit keeps no beat from confirming the right. */
    function watchBeats(): void {
      if (!isWorking) return
      if (journal.lease.lost()?.code === 'JOURNAL_LEASE_STALE')
        violation ??= {
          invariant: 'beats',
          text: `the right of ${machine.name} is not confirmed behind a slow commit`,
          atMs: scheduler.nowMs,
        }
      scheduler.after(250, watchBeats)
    }
  }

  /** Has nothing to write for a while, and learns all the same that another has the right. */
  async function rest(
    machine: Machine,
    journal: Journal,
    sleep: (ms: number) => Promise<void>,
    forMs: number,
  ): Promise<void> {
    let ended: unknown
    void journal.failed.then((fault) => {
      ended = fault
    })
    const untilMs = scheduler.nowMs + forMs
    let takenSinceMs: number | undefined
    while (scheduler.nowMs < untilMs && !isSound() && !machine.isLeaving) {
      await sleep(500)
      if (ended !== undefined) throw ended
      const { holder } = server.state.head
      const isFrozen = scheduler.nowMs <= machine.pausedUntilMs
      const isTaken =
        !isFrozen && holder !== '' && holder !== machine.holder && scheduler.nowMs >= machine.partedUntilMs
      takenSinceMs = isTaken ? (takenSinceMs ?? scheduler.nowMs) : undefined
      if (takenSinceMs !== undefined && scheduler.nowMs - takenSinceMs > KNOWS_MS)
        broken('ends', `${machine.name} lives on, and ${holder} has the right`)
    }
  }

  const start = (machine: Machine): void => {
    live(machine).catch((error: unknown) => {
      if (!(error instanceof Broken))
        violation ??= { invariant: 'error', text: String(error), atMs: scheduler.nowMs }
    })
  }

  function fault(): void {
    if (isSlow || isSound()) return
    const machine = random.pick(machines)
    const durationMs = random.int(500, 12_000)
    switch (random.pick(['kill', 'pause', 'part', 'failover', 'loss', 'leave'] as const)) {
      case 'kill':
        machine.life += 1
        scheduler.after(random.int(0, 9_000), () => start(machine))
        break
      case 'pause':
        machine.pausedUntilMs = scheduler.nowMs + durationMs
        break
      case 'part':
        machine.partedUntilMs = scheduler.nowMs + durationMs
        break
      case 'leave':
        machine.isLeaving = true
        break
      case 'failover':
        server.failOver()
        break
      case 'loss': {
        const holder = machines.find((each) => each.holder === server.state.head.holder)
        const last = server.state.records.slice(-random.int(1, 3))
        // Only what its holder wrote in this life: it can put that back.
        const isOwn = last.every(({ rows }) => holder?.own.has(rows.record[4]))
        if (holder === undefined || last.length === 0 || !isOwn || seed % 3 !== 0) break
        isLossy = true
        for (const { rows } of last) takenBack.add(rows.record[4])
        server.goBackBy(last.length)
      }
    }
    scheduler.after(random.int(800, 6_000), fault)
  }

  for (const machine of machines) start(machine)
  scheduler.after(3_000, fault)
  await scheduler.runTo(FAULTS_MS + 25_000)
  const before = server.state.records.length
  await scheduler.runTo(UNTIL_MS)
  const there = stored()
  for (const { name, acknowledged } of machines)
    for (const text of acknowledged)
      if (!there.has(text) && !takenBack.has(text))
        violation ??= {
          invariant: 'kept',
          text: `a record that ${name} was told of is gone: ${text.slice(0, 80)}`,
          atMs: UNTIL_MS,
        }
  const isAbandoned = machines.some(({ isRefused }) => isRefused)
  if (!isAbandoned && server.state.records.length === before)
    violation ??= { invariant: 'alive', text: 'nobody makes orders though nothing is wrong', atMs: UNTIL_MS }
  for (const machine of machines) machine.life += 1
  return { violation, sent: sent.size }
}

function entryOf(n: number, digest: `0x${string}`): SignEntry {
  return {
    ...{ intentId: `intent-${n}`, attempt: 1, digest, addsUsd: 0n },
    ...{ deadlineSeconds: 2_000_000_000, atSeconds: 0 },
  }
}
