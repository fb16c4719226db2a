/**
 * Protocol bugs, as patches of the source text: what other bots do, what test/simulation/PROOFS.md lists, and what the simulation
 * found in perpd. None of them is anywhere in the product; each must be caught.
 */
import type { Shape } from './intentsOf.ts'
import type { TierName } from './seeds.ts'
import type { Mode } from './worldTypes.ts'

/** One bug. */
export interface Mutant {
  readonly name: string
  readonly tier: TierName
  /** Where evidence comes from in its worlds; absent: anywhere. */
  readonly mode?: Mode
  /** What is asked for in its worlds; absent: anything. */
  readonly shapes?: readonly Shape[]
  /** False: its worlds have no walk of prices and no strategy files; absent: those of the engine have. */
  readonly hasPrices?: boolean
  /** True: its worlds have few faults, and much that is filled. */
  readonly isLively?: boolean
  readonly patches: readonly Patch[]
}

/** A bug with a seed that is tried first. */
export interface FirstMutant extends Mutant {
  readonly firstSeed: number
}

/** One replacement; `find` stands exactly once in the file. */
export interface Patch {
  /** From the root of the project. */
  readonly file: string
  readonly find: string
  readonly replace: string
}

const step = 'src/domain/machine/step.ts'
const fold = 'src/domain/machine/fold.ts'
const evidence = 'src/domain/machine/evidence.ts'
const chain = 'src/domain/machine/chainEvidence.ts'
const api = 'src/domain/machine/apiEvidence.ts'
const exposure = 'src/domain/machine/intentExposure.ts'
const intent = 'src/domain/order/intent.ts'

const dead = "return { kind: 'dead', evidence: { level: 'local', atMs, statement: 'given up' } }"

/** A loss that is believed as soon as `condition` holds. */
function believes(name: string, condition: string): Mutant {
  const find = '  const { answer, chain, atMs } = observation\n'
  return {
    name,
    tier: 'core',
    patches: [{ file: evidence, find, replace: `${find}  if (${condition}) ${dead}\n` }],
  }
}

function one(name: string, tier: TierName, file: string, find: string, replace: string): Mutant {
  return { name, tier, patches: [{ file, find, replace }] }
}

/** Lets an attempt be armed again in the given phases, as a second digest of the same attempt. */
function armsAgain(phases: string): readonly Patch[] {
  return [
    {
      file: step,
      find: "    case 'signed':\n      if (attempt?.phase !== 'PREPARING') throw misused(event, state)",
      replace: "    case 'signed':\n      if (attempt === undefined) throw misused(event, state)",
    },
    {
      file: step,
      find: 'if (attempt?.armed === undefined || attempt.send !== undefined) throw misused(event, state)',
      replace: 'if (attempt?.armed === undefined) throw misused(event, state)',
    },
    {
      file: fold,
      find: "'attempt.armed': ['PREPARING']",
      replace: `'attempt.armed': ['PREPARING', ${phases}]`,
    },
  ]
}

/** All of them. */
export const mutants: readonly Mutant[] = [
  believes('gives up after a timeout', 'atMs > (attempt.armedAtMs ?? 0) + 30_000'),
  believes('404 means lost', "answer.kind === 'not-found'"),
  believes('silence means lost', "answer.kind === 'silent'"),
  believes('relay failed means dead', "answer.kind === 'status' && answer.status === 'relay_failed'"),
  believes('relay reverted means dead', "answer.kind === 'status' && answer.status === 'relay_reverted'"),
  one('4xx on submit means dead', 'core', fold, "refused: 'UNRESOLVED'", "refused: 'NOT_SENT'"),
  one(
    'no answer to the submit means not sent',
    'core',
    fold,
    "unanswered: 'UNRESOLVED'",
    "unanswered: 'NOT_SENT'",
  ),
  {
    name: 'a used digest means ours',
    tier: 'core',
    patches: [
      {
        file: chain,
        find: 'const changes = expected.changes.every(',
        replace: 'const changes = expected.changes.slice(0, 0).every(',
      },
      {
        file: chain,
        find: 'if (!consumer.carriesOurSignature && logs.length === 0) return undefined',
        replace: '',
      },
    ],
  },
  one(
    'death by the latest block',
    'core',
    chain,
    '({ final, isDigestUsedAtFinal, isDigestUsedAtLatest }) =>',
    '({ latest: final, isDigestUsedAtFinal, isDigestUsedAtLatest }) =>',
  ),
  one('latest taken for final', 'core', chain, 'return blockNumber <= final.number', 'return true'),
  one(
    'provisional evidence closes',
    'core',
    intent,
    "return evidence?.level === 'chain-latest'",
    'return false',
  ),
  one(
    'the deadline by our own clock',
    'core',
    chain,
    'final.timestampSeconds > deadlineSeconds',
    'atMs / 1000 > deadlineSeconds',
  ),
  one(
    'at the deadline means past it',
    'core',
    chain,
    'final.timestampSeconds > deadlineSeconds',
    'final.timestampSeconds >= deadlineSeconds',
  ),
  one(
    'one endpoint is enough for a death',
    'core',
    chain,
    'const isDead = view.endpoints.every(',
    'const isDead = view.endpoints.some(',
  ),
  {
    ...one(
      'an endpoint that does not answer agrees',
      'core',
      chain,
      'if (deadlineSeconds === undefined || view.configured === 0 || view.endpoints.length < view.configured)',
      'if (deadlineSeconds === undefined || view.endpoints.length === 0)',
    ),
    mode: 'chain-2',
  },
  one(
    'one endpoint is enough for an end',
    'core',
    chain,
    '      agreeing.length === view.configured &&\n      agreeing.every((each) =>',
    '      agreeing.every((each) =>',
  ),
  one(
    'a stranger seen in the latest block is final',
    'core',
    chain,
    'if (consumer === undefined || !isDigestUsedAtFinal || !isAtFinal(endpoint, consumer.block.number))',
    'if (consumer === undefined)',
  ),
  one(
    'a reorganisation is not noticed',
    'core',
    chain,
    'if (!isProvisional(attempt.evidence) || view.endpoints.length < view.configured) return undefined',
    'return undefined',
  ),
  one(
    'unreserved while unresolved',
    'core',
    exposure,
    '  if (!isOpen(state)) return 0n\n',
    "  if (!isOpen(state) || lastAttempt(state)?.phase === 'UNRESOLVED') return 0n\n",
  ),
  one(
    'the reservation ends with the landing',
    'core',
    exposure,
    '  if (!isOpen(state)) return 0n\n',
    "  if (!isOpen(state) || lastAttempt(state)?.phase === 'LANDED') return 0n\n",
  ),
  one(
    'a frozen order is taken for cancelled',
    'core',
    chain,
    "const ended = newest.filter(({ log }) => log.event === 'OrderExecuted' || log.event === 'OrderCancelled')",
    "const ended = newest.filter(({ log }) => log.event !== 'OrderCreated' && log.event !== 'OrderUpdated')",
  ),
  {
    name: 'signs again after a crash',
    tier: 'core',
    patches: [
      ...armsAgain("'ARMED'"),
      {
        file: step,
        find: "    case 'ARMED':\n      return {",
        replace:
          "    case 'ARMED':\n      return { effects: [{ type: 'prepare', attempt: attempt.n, again: false }], again: false }\n      return {",
      },
    ],
  },
  {
    name: 'signs again when the submit is not answered',
    tier: 'core',
    patches: [
      ...armsAgain("'ARMED', 'ACKED', 'UNRESOLVED'"),
      {
        file: step,
        find: "effects: event.send.result === 'not-sent' ? [] : [{ type: 'follow', attempt: attempt.n }],",
        replace:
          "effects: event.send.result === 'not-sent' ? [] : event.send.result === 'unanswered' ? [{ type: 'prepare', attempt: attempt.n, again: true }] : [{ type: 'follow', attempt: attempt.n }],",
      },
    ],
  },
  {
    name: 'the venue is trusted on a live chain',
    tier: 'core',
    mode: 'api',
    patches: [
      {
        file: 'test/simulation/settings.ts',
        find: "trustVenue: mode === 'venue'",
        replace: 'trustVenue: true',
      },
    ],
  },
  {
    name: 'death before the deadline by the venue',
    tier: 'core',
    mode: 'venue',
    patches: [
      {
        file: api,
        find: 'if (answer.serverDateMs <= armed.deadlineSeconds * 1000 + rules.deadlineMarginMs) return undefined',
        replace: '',
      },
      {
        file: 'test/simulation/coreDaemon.ts',
        find: 'const everyPeer = rules.trustVenue && isOver &&',
        replace: 'const everyPeer = rules.trustVenue &&',
      },
    ],
  },
  {
    ...one(
      'a cancel is believed from the host',
      'core',
      api,
      '  const isChanged = expected.changes.every(({ orderKey, event }) =>',
      '  const isChanged = expected.changes.slice(0, 0).every(({ orderKey, event }) =>',
    ),
    mode: 'api',
  },
  {
    ...one(
      'orders of other intents are not told apart',
      'core',
      api,
      '    (row) => isOwn(state, attempt, row) && !explained.has(row.orderKey.toLowerCase()),',
      '    (row) => isOwn(state, attempt, row),',
    ),
    mode: 'venue',
  },
  {
    ...one(
      'rows are judged by our own clock',
      'core',
      api,
      '(attempt.armed?.deadlineSeconds ?? 0) - longestLifeSeconds',
      '(attempt.armedAtMs ?? 0) / 1000 - 3_600',
    ),
    mode: 'api',
  },
  one(
    'a late answer to the submit stops the daemon',
    'shell',
    step,
    "      if (attempt.phase !== 'ARMED')\n        return { effects: [{ type: 'follow', attempt: attempt.n }], again: false }\n",
    "      if (attempt.phase !== 'ARMED') throw misused(event, state)\n",
  ),
  {
    // Where endpoints may come and go no block is taken back.
    ...one(
      'the use is looked for from the newest block on',
      'shell',
      'src/execution/track/chainObservation.ts',
      'fromBlock: ifDefined(armBlockNumber, earliestAfter)',
      'fromBlock: armBlockNumber',
    ),
    mode: 'chain-2',
  },
  one(
    'no fsync before the submit',
    'shell',
    'test/simulation/diskJournal.ts',
    '    disk.durable.push(...disk.cached.splice(0))\n',
    "    if (record.kind !== 'attempt.armed') disk.durable.push(...disk.cached.splice(0))\n",
  ),
  one(
    'a journal older than its mark is opened',
    'core',
    'test/simulation/disk.ts',
    '  if (isBehind) {',
    '  if (isBehind && disk.isFull) {',
  ),
  {
    ...one(
      'a liquidation is taken for our close',
      'core',
      api,
      '      sameHex(each.orderKey, child.orderKey) &&\n      (each.eventName ===',
      '      (sameHex(each.orderKey, child.orderKey) || each.orderType === 7) &&\n      (each.eventName ===',
    ),
    mode: 'api',
  },
  one(
    'a commit does not ask for the lease',
    'core',
    'src/journal/sqlite/lease.ts',
    'if (held?.epoch === epoch) return',
    'if (held !== undefined) return',
  ),
  one(
    'the epoch stays when the journal is opened',
    'shell',
    'src/journal/sqlite/lease.ts',
    'epoch = epoch + 1',
    'epoch = epoch',
  ),
  one(
    'whoever lost the journal sends all the same',
    'shell',
    'src/execution/takeEvents.ts',
    "      const isReused = error instanceof BaseError && error.code === 'JOURNAL_DIGEST_REUSED'\n",
    "      if (error instanceof BaseError && error.code === 'JOURNAL_FENCED') return { seq: 0, record }\n      const isReused = error instanceof BaseError && error.code === 'JOURNAL_DIGEST_REUSED'\n",
  ),
  one(
    'a journal is opened without its hashes',
    'core',
    'test/simulation/disk.ts',
    'line !== undefined && line.seq === tail.seq + 1 && line.hash === hashOf(tail.hash, line.seq, line.body)',
    'line !== undefined && line.seq === tail.seq + 1',
  ),
  one(
    'a decision may be taken twice',
    'core',
    'src/journal/recordAdmission.ts',
    'if (view.hasDecision(strategy, decisionKey)) throw new DuplicateDecisionError(strategy, decisionKey)',
    '',
  ),
  one(
    'the submit is sent again',
    'shell',
    'src/api/transport/transport.ts',
    "const most = kind === 'submit' ? 1 : ",
    'const most = ',
  ),
  one(
    'the submit fails over to the peer',
    'shell',
    'src/api/orders/expressOrders.ts',
    '{ ticket, submission }, { host: ticket.host })',
    '{ ticket, submission }, {})',
  ),
  one(
    'any host is asked for the status',
    'shell',
    'src/api/orders/expressOrders.ts',
    '{ ...options, host: ticket.host }',
    '{ ...options }',
  ),
  one(
    'a broken connection means not sent',
    'shell',
    'src/api/transport/requestFailed.ts',
    'if (error instanceof RequestFailed) return error.sent',
    "if (error instanceof RequestFailed) return 'no'",
  ),
  {
    ...one(
      'a bundle gives its first order to everybody',
      'core',
      chain,
      '  if (runs.length < 2) return runs[0]\n',
      '  if (runs.length > 0) return runs[0]\n',
    ),
    shapes: ['swap market', 'decrease market'],
  },
  {
    name: 'a deadline by a clock that jumped',
    tier: 'shell',
    mode: 'api',
    patches: [
      {
        file: 'src/api/transport/hostClocks.ts',
        find: 'const middleMs = clock.monotonicMs() - ',
        replace: 'const middleMs = clock.now() - ',
      },
      {
        file: 'src/api/transport/hostClocks.ts',
        find: 'return again >= Math.min(HEARD_AGAIN, exact) ? all.filter(isSince) : all',
        replace: 'return again >= 0 ? all : all.filter(isSince)',
      },
      {
        file: 'src/api/transport/hostClocks.ts',
        find: 'return median === undefined ? undefined : median - wallMs()',
        replace: 'return median',
      },
    ],
  },
  one(
    'a session key signs for nobody',
    'shell',
    'src/execution/context/policy.ts',
    '      account,\n      subaccountApproval: hashSubaccountApproval',
    '      account: ZERO_ADDRESS,\n      subaccountApproval: hashSubaccountApproval',
  ),
  one(
    'the receiver is not verified',
    'shell',
    'src/execution/verify/verifyOrder.ts',
    'addresses.receiver`, account, addresses.receiver)',
    'addresses.receiver`, account, account)',
  ),
  one(
    'the size is not verified',
    'shell',
    'src/execution/verify/verifyOrder.ts',
    '  if (isMeantSize(rule, found)) return\n',
    '  if (found >= 0n) return\n',
  ),
  one(
    'the deadline is not bounded',
    'shell',
    'src/execution/verify/verifyRelayParams.ts',
    'if (relayParams.deadline < earliest || relayParams.deadline > latest) {',
    'if (relayParams.deadline < earliest) {',
  ),
  {
    ...one(
      'an endpoint alone tells the time',
      'shell',
      'src/domain/chainTime.ts',
      'isHealthy: Math.abs(aheadSeconds) <= HEALTHY_SECONDS',
      'isHealthy: HEALTHY_SECONDS > 0',
    ),
    mode: 'chain-1',
  },
  one(
    'a host answers for what we took long for',
    'shell',
    'src/execution/lanes/hostMessage.ts',
    '(clock.monotonicMs() - askedMs) / 1000',
    '(askedMs - askedMs) / 1000',
  ),
  {
    name: 'a prepared order is signed before J2 is durable',
    tier: 'shared',
    patches: [
      {
        file: 'src/execution/lanes/hostMessage.ts',
        find: '  await recorded\n  // Before the payload',
        replace: '  // Before the payload',
      },
      { file: 'src/execution/makeAttempt.ts', find: '  await recorded\n  // A halt', replace: '  // A halt' },
    ],
  },
]
