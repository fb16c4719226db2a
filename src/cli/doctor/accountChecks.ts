/** Checks of the account at the venue: what is in its wallet, what the venue may take of it, and what its delegated key may do. */
import type { SubaccountStatus } from '../../api/accounts/subaccounts.ts'
import type { Allowance } from '../../api/accounts/wallet.ts'
import type { Api } from '../../api/client.ts'
import { isoTime } from '../../base/clock.ts'
import { isThere } from '../../base/isThere.ts'
import type { Config } from '../../config/configTypes.ts'
import { readKeystore } from '../../daemon/signers/openSigner.ts'
import { readApprovalFile } from '../../daemon/signers/subaccountFile.ts'
import { readPaperKey } from '../../keys/local.ts'
import { counted } from '../../monitor/text.ts'
import { type Address, sameHex } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/index.ts'
import type { Balance } from '../../protocol/market.ts'
import { formatUnits } from '../../protocol/units.ts'
import { bounded, type Finding, fail, pass, warn } from './finding.ts'

/** With fewer actions or less time left an approval is to be renewed soon. */
const FEW_ACTIONS = 50n
const SOON_SECONDS = 24 * 3_600
/** Longest wait for one answer, ms. */
const ANSWER_MS = 5_000

/** The address of the configured key, without opening it; undefined when it shows nowhere. Throws KeyFileError, KeystoreError. */
function keyAddressOf({ account, paper, isPaper }: Config): Address | undefined {
  if (isPaper) return isThere(paper.keyFile) ? readPaperKey(paper.keyFile).address : undefined
  if (account.address !== undefined) return account.address
  return account.keystore === undefined
    ? undefined
    : readKeystore(account.keystore, 'account.keystore').address
}

/** Wallet, allowances and approval of the account, each asked for once. */
export async function checkAccount(
  config: Config,
  api: Api,
  account: Address | undefined,
  nowSeconds: number,
): Promise<readonly Finding[]> {
  const key = keyAddressOf(config)
  const owner = config.account.owner ?? account ?? key
  if (owner === undefined)
    return [
      pass(
        'account',
        config.isPaper
          ? 'the first start creates its key'
          : 'address unknown until the key is opened: not checked',
      ),
    ]
  const options = { isFresh: true, attempts: 2, timeoutMs: ANSWER_MS }
  const remedy = 'Repeat when a host answers.'
  const { chain } = config.venue
  const found = await Promise.all([
    bounded('balances', remedy, async () => {
      const { value } = await api.getWalletBalances({ account: owner }, options)
      return [balanceFinding(value, chain, owner, config.isPaper)]
    }),
    bounded('allowances', remedy, async () => {
      const [balances, allowances] = await Promise.all([
        api.getWalletBalances({ account: owner }, options),
        api.getAllowances({ account: owner, spender: 'router' }, options),
      ])
      return allowanceFindings(allowances.value, balances.value, chain)
    }),
    bounded('approval', remedy, async () => {
      if (key === undefined || sameHex(key, owner)) return []
      const { value } = await api.getSubaccountStatus({ account: owner, subaccountAddress: key }, options)
      const kept = readApprovalFile(config.account.approvalFile, chain, owner, key)
      const isWaiting =
        kept !== undefined && kept.nonce === value.approvalNonce && Number(kept.expiresAt) > nowSeconds
      return [approvalFinding(value, isWaiting, nowSeconds)]
    }),
  ])
  return found.flat()
}

/** Reports the wallet's balances; the token that pays the relay must be among them. */
export function balanceFinding(
  balances: readonly Balance[],
  chain: Chain,
  account: Address,
  isPaper: boolean,
): Finding {
  const held = balances.filter(({ balance }) => balance > 0n)
  const { feeToken } = chain
  const amounts = held.map(({ symbol, balance, decimals }) => `${formatUnits(balance, decimals)} ${symbol}`)
  const shown = amounts.slice(0, 4).join(', ')
  const more = amounts.length > 4 ? ` and ${amounts.length - 4} more` : ''
  const text = amounts.length === 0 ? `the wallet of ${account} is empty` : `${account} has ${shown}${more}`
  if (held.some(({ address }) => sameHex(address, feeToken.address))) return pass('balances', text)
  return fail(
    'balances',
    `${text}; no ${feeToken.symbol}, which pays the relay`,
    isPaper
      ? 'Delete the state of the paper venue to start over.'
      : `Send ${feeToken.symbol} to the account.`,
  )
}

/** Reports the amounts that the venue's router may take: of the fee token and of each token in the wallet. */
export function allowanceFindings(
  allowances: readonly Allowance[],
  balances: readonly Balance[],
  { feeToken, contracts }: Chain,
): readonly Finding[] {
  const isNeeded = ({ address }: Allowance): boolean =>
    sameHex(address, feeToken.address) ||
    balances.some((each) => sameHex(each.address, address) && each.balance > 0n)
  const needed = allowances.filter(isNeeded)
  const none = needed.filter(({ allowance }) => allowance === 0n)
  const remedy = `Approve the Router ${contracts.router} for it with the account's wallet; perpd sets no allowance.`
  if (none.length === 0)
    return [
      pass(
        'allowances',
        `the venue may take ${needed.map(({ symbol }) => symbol).join(', ') || 'nothing yet'}`,
      ),
    ]
  return none.map(({ symbol, address }) => {
    const text = `the venue may take no ${symbol}`
    return sameHex(address, feeToken.address)
      ? fail('allowances', `${text}, which pays the relay`, remedy)
      : warn('allowances', `${text}: it cannot be collateral`, remedy)
  })
}

/** Reports a delegated key's remaining right. `isWaiting`: a newer approval goes along with the next order. */
export function approvalFinding(
  { isActive, remainingActions, expiresAtSeconds }: SubaccountStatus,
  isWaiting: boolean,
  nowSeconds: number,
): Finding {
  const renew = 'perpd subaccount approve'
  const isUsable = isActive && remainingActions > 0n && expiresAtSeconds > nowSeconds
  if (isWaiting) return pass('approval', 'an approval waits for the next order')
  if (!isUsable) return fail('approval', 'the delegated key may not trade', renew)
  const text = `${counted(Number(remainingActions), 'action')} left, until ${isoTime(expiresAtSeconds * 1_000)}`
  return remainingActions < FEW_ACTIONS || expiresAtSeconds - nowSeconds < SOON_SECONDS
    ? warn('approval', text, `${renew} renews it`)
    : pass('approval', text)
}
