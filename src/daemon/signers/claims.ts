/**
 * Claims: what the venue put aside for the account, read from the chain, and the calls that claim it in a file for the owner's wallet. Nothing is
 * signed or sent. The file is all that is remembered: while it names what is due it stays, so a need is told once, over restarts too;
 * once all that it names is claimed it is removed.
 */
import { readFileSync, rmSync } from 'node:fs'
import type { Api } from '../../api/client.ts'
import { type Clocks, isoTime } from '../../base/clock.ts'
import { BaseError, reasonOf } from '../../base/errors.ts'
import { type Claimable, readClaimable } from '../../chain/claimableAmounts.ts'
import { readContractCode } from '../../chain/contractCode.ts'
import type { RpcClient } from '../../chain/wire/jsonRpc.ts'
import type { Emit } from '../../domain/event.ts'
import type { ClaimDecision } from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import { type Address, hexKey, sameHex } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { claimCalldata, claimKinds } from '../../protocol/signing/claimCall.ts'
import { formatDollars, formatUnits, type Usd, usdOfAmount } from '../../protocol/units.ts'
import { writeWhole } from './subaccountFile.ts'

/** Parts that prepare claims. */
export interface ClaimParts {
  readonly chain: Chain
  readonly api: Api
  /** Clients of the chain's HTTP endpoints; none: nothing can be read. */
  readonly clients: readonly RpcClient[]
  readonly account: Address
  /** Where the calls for the owner are kept. */
  readonly file: string
  readonly clock: Clocks
  readonly emit: Emit
}

/** Result of a look for claims; `nothing`: too little is due, or the file names it already. */
export type ClaimLook = 'nothing' | 'prepared' | Denial

/** Looks at what is due, and prepares its claim when it is enough. `busy`: a look is under way, or the last one was a moment ago. */
export type PrepareClaim = (wish: ClaimDecision) => 'busy' | Promise<ClaimLook>

/** A due claim with its worth, USD; 0 where no price is known. */
interface Due extends Claimable {
  readonly worthUsd: Usd
}

/** Form of the file. */
const SCHEMA = 'perpd-claim/1'
/** Least time between two looks, and after a failed look, ms. */
const [againMs, afterFaultMs] = [60_000, 600_000]
/** Most pairs of one call: each costs some 60,000 gas. */
const MOST_PAIRS = 50

/** Makes it. Refuses with CLAIM_UNREAD; what is prepared is told by `claim.prepared`, its end by `claim.over`, each figure by `claim.read`. */
export function createClaims(parts: ClaimParts): PrepareClaim {
  const { clock } = parts
  let waitsUntilMs = Number.NEGATIVE_INFINITY

  async function look(wish: ClaimDecision): Promise<ClaimLook> {
    try {
      return await lookOnce(parts, wish)
    } catch (error) {
      const isFile = error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string'
      if (!(error instanceof BaseError) && !isFile) throw error
      waitsUntilMs = clock.monotonicMs() + afterFaultMs
      return { code: 'CLAIM_UNREAD', reason: `no claim is prepared: ${reasonOf(error)}` }
    }
  }

  return (wish) => {
    if (clock.monotonicMs() < waitsUntilMs) return 'busy'
    waitsUntilMs = clock.monotonicMs() + againMs
    return look(wish)
  }
}

async function lookOnce(parts: ClaimParts, { aboveUsd }: ClaimDecision): Promise<ClaimLook> {
  const { account, chain, clients, emit, file } = parts
  if (clients.length === 0) {
    return {
      code: 'CLAIM_UNREAD',
      reason: 'only the chain shows due amounts, and no chain endpoint is configured (rpc.http)',
    }
  }
  const due = await readDue(parts)
  const worthUsd = sumOf(due)
  emit({ type: 'claim.read', worthUsd })
  const named = readNamed(file, chain, account)
  if (named !== undefined && !due.some((each) => named.has(nameOf(each)))) {
    rmSync(file, { force: true })
    emit({ type: 'claim.over', file })
    if (worthUsd < aboveUsd) return 'nothing'
  }
  const missingUsd = sumOf(due.filter((each) => named?.has(nameOf(each)) !== true))
  if (missingUsd < aboveUsd) return 'nothing'
  // The address is pinned; what stands there must be there, and be the same at every endpoint.
  await readContractCode(clients, chain.contracts.exchangeRouter, undefined, new AbortController().signal)
  const written = due.toSorted((one, other) => (one.worthUsd < other.worthUsd ? 1 : -1))
  const calls = claimKinds.flatMap((kind) => {
    const own = written.filter((each) => each.kind === kind).slice(0, MOST_PAIRS)
    return own.length === 0 ? [] : [callOf(kind, own, parts)]
  })
  writeWhole(file, textOf(calls, worthUsd, parts))
  emit({ type: 'claim.prepared', file, worthUsd, calls: calls.length, pairs: due.length })
  return 'prepared'
}

async function readDue({ account, api, chain, clients }: ClaimParts): Promise<readonly Due[]> {
  const pairs = [...chain.facts.markets.values()].flatMap(({ marketToken, longToken, shortToken }) =>
    (sameHex(longToken, shortToken) ? [longToken] : [longToken, shortToken]).map((token) => ({
      marketToken,
      token,
    })),
  )
  const claimable = await readClaimable(clients, chain, account, pairs, new AbortController().signal)
  if (claimable.length === 0) return []
  const { value: tokens } = await api.getTokensInfo()
  return claimable.map((each) => {
    const price = tokens.find(({ address }) => sameHex(address, each.token))?.minPrice ?? 0n
    const { decimals = 0 } = chain.facts.tokens.get(hexKey(each.token)) ?? {}
    return { ...each, worthUsd: usdOfAmount(each.amount, price, decimals) }
  })
}

function callOf(kind: Due['kind'], due: readonly Due[], { account, chain }: ClaimParts) {
  const what = kind === 'funding' ? 'funding fees that positions earned' : 'rebates due to a referrer'
  return {
    chainId: chain.chainId,
    to: chain.contracts.exchangeRouter,
    value: '0',
    data: claimCalldata(kind, due, account),
    explanation: `Claims ${what} in ${due.length} pairs of market and token, worth about ${formatDollars(sumOf(due))}, for ${account} itself.`,
    claims: due.map(({ marketToken, token, amount, worthUsd }) => {
      const facts = chain.facts.tokens.get(hexKey(token))
      return {
        kind,
        market: chain.facts.markets.get(hexKey(marketToken))?.symbol ?? marketToken,
        marketToken,
        token,
        amount: `${formatUnits(amount, facts?.decimals ?? 0)} ${facts?.symbol ?? token}`,
        worth: formatDollars(worthUsd),
      }
    }),
  }
}

function textOf(calls: readonly object[], worthUsd: Usd, { account, chain, clock }: ClaimParts): string {
  const file = {
    schema: SCHEMA,
    chain: chain.name,
    account,
    preparedAt: isoTime(clock.now()),
    worth: formatDollars(worthUsd),
    explanation:
      "Transactions for the wallet of `account`, unsigned. Each is sent to the venue's ExchangeRouter with no value; the last argument is the receiver, the account itself. The venue pays the amounts due at execution, not those in `claims`.",
    calls,
  }
  return `${JSON.stringify(file, undefined, 2)}\n`
}

/** Claims that the file names; undefined where there is no readable file, or it is of another account or chain. */
function readNamed(file: string, { name }: Chain, account: Address): ReadonlySet<string> | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const read = JSON.parse(text)
    if (read.schema !== SCHEMA || read.chain !== name || !sameHex(read.account, account)) return undefined
    const claims: readonly Claimable[] = read.calls.flatMap(
      (call: { readonly claims: unknown }) => call.claims,
    )
    return new Set(claims.map(nameOf))
  } catch {
    return undefined
  }
}

function nameOf({ kind, marketToken, token }: Claimable): string {
  return `${kind}:${hexKey(marketToken)}:${hexKey(token)}`
}

function sumOf(due: readonly Due[]): Usd {
  return due.reduce((sum, { worthUsd }) => sum + worthUsd, 0n)
}
