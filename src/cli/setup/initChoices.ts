/** Choices of `perpd init`: from its flags, else from the answers to at most seven questions, else the usual ones. */
import { Decimal } from 'decimal.js'
import { decimalForm, typedDecimal } from '../../base/typedNumber.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { didYouMean } from '../../config/suggest.ts'
import { mayHoldKey } from '../../monitor/log/redact.ts'
import { isSwapOnly } from '../../protocol/catalogue.ts'
import { type Chain, chainNamed, chainNames, chains } from '../../protocol/chains/index.ts'
import { builtInNames } from '../../strategy/kinds/builtInKind.ts'
import { marketSymbol } from '../strategies/newCommand.ts'
import { builtInKind } from '../strategies/shippedExamples.ts'

/** The variable that may hold a bare key, as an answer to where the key is. */
export const keyVariable = 'PERPD_PRIVATE_KEY'

/** The answers. */
export interface Choices {
  readonly profile: string
  readonly chain: Chain
  /** A built-in kind. */
  readonly kind: string
  /** Whole symbol; undefined for a kind that opens nothing. */
  readonly market: string | undefined
  /** US dollars, decimal text. */
  readonly sizeUsd: string
  readonly maxDailyLossUsd: string
  /** Path of a key file, or `keyVariable`; undefined on paper. */
  readonly key: string | undefined
  /** An address without a key in it. */
  readonly rpc: string | undefined
  /** An endpoint was named whose address may hold a key: it is written nowhere. */
  readonly isRpcSecret: boolean
}

/** Gives the answer to a question of that name, which may be asked again for one that does not fit. */
export type Answer = (
  flag: string,
  question: string,
  initial: string,
  read: (text: string) => string,
) => Promise<string>

const profiles: readonly string[] = ['paper', ...chainNames]

/** All choices, each asked for in its turn. Throws what `answer` throws. */
export async function makeChoices(answer: Answer): Promise<Choices> {
  const profile = await answer(
    'profile',
    `What does it trade with? paper is play money; ${chainNames.join(', ')} are real money`,
    'paper',
    profileIn,
  )
  const isPaper = profile === 'paper'
  const chain = chainNamed(profile) ?? chains.arbitrum
  const kinds = builtInNames.join(', ')
  const kind = await answer('kind', `Which strategy? ${kinds}`, 'trend', (text) => builtInKind(text).kind)
  const opens = builtInKind(kind).opensPositions
  const market = opens
    ? await answer('market', 'On which market?', usualMarket(chain), (text) => marketSymbol(chain, text))
    : undefined
  const sizeUsd = opens
    ? await answer('size', 'Size of one order, US dollars?', isPaper ? '500' : '100', dollarsIn)
    : '100'
  const loss = 'Daily loss at which increases stop, US dollars?'
  const maxDailyLossUsd = await answer('max-loss', loss, isPaper ? '1000' : '100', dollarsIn)
  const common = { profile, chain, kind, market, sizeUsd, maxDailyLossUsd }
  if (isPaper) return { ...common, key: undefined, rpc: undefined, isRpcSecret: false }
  const where = `Where is the key? The path of an encrypted key file (perpd keys new makes it), or ${keyVariable}`
  const key = await answer('key', where, `var/${profile}/key.json`, keyPlaceIn)
  const rpc = await answer(
    'rpc',
    'An RPC endpoint of the chain, https://...? none: the APIs alone',
    'none',
    rpcIn,
  )
  const isRpcSecret = mayHoldKey(rpc)
  return { ...common, key, rpc: rpc === 'none' || isRpcSecret ? undefined : rpc, isRpcSecret }
}

/** ETH where one market has it, with a stable coin as its short token; else the first that is no swap. */
function usualMarket({ facts }: Chain): string {
  const symbols = [...facts.markets.values()]
    .filter((market) => !isSwapOnly(market))
    .map(({ symbol }) => symbol)
  return symbols.find((symbol) => /^ETH\/USD \[.*-USD/.test(symbol)) ?? symbols[0] ?? ''
}

function profileIn(text: string): string {
  if (profiles.includes(text)) return text
  throw misfit(`${text} is no profile.${didYouMean(text, profiles)} Profiles: ${profiles.join(', ')}.`)
}

/** An amount above zero, to the cent, in its shortest form. */
function dollarsIn(text: string): string {
  const plain = typedDecimal(text.replace(/^\$/, ''), 2)
  if (plain !== undefined) return new Decimal(plain).toFixed()
  throw misfit(`${text} is no amount; expected US dollars, ${decimalForm(2, '250 or 99.50')}.`)
}

/** A place, and no key: what is typed here is written to a file, and may stay in the history of a shell. */
function keyPlaceIn(text: string): string {
  if (/(?:0x)?[0-9a-f]{64}/i.test(text) || text.trim().split(/\s+/).length >= 12) {
    throw misfit(
      `That is a key, not the path of one: perpd wrote it nowhere. Encrypt it into a file with perpd keys import, and name the file.`,
    )
  }
  if (text === keyVariable || /^[\w./~-]+$/.test(text)) return text
  throw misfit(`${visibleStart(text)} is neither the path of a file nor ${keyVariable}.`)
}

/** Start of an answer that may be a secret; no more than this is shown. */
function visibleStart(text: string): string {
  return text.length > 12 ? `${text.slice(0, 4)}...` : text
}

function rpcIn(text: string): string {
  if (
    text === 'none' ||
    /^https:\/\/[^\s]+$/.test(text) ||
    /^http:\/\/(?:127\.0\.0\.1|localhost)[:/]?\S*$/.test(text)
  )
    return text
  throw misfit('An endpoint is an https:// address, or none.')
}

function misfit(text: string): CommandError {
  return new CommandError(text, exitCodes.error)
}
