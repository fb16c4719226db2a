/** Settings of the account and its keys. */
import { laneNames } from '../../domain/order/laneTable.ts'
import {
  choice,
  flag,
  integer,
  liveSetting,
  meaning,
  ms,
  type Section,
  setting,
  type Typed,
} from '../../protocol/settings/setting.ts'
import * as as from './formats.ts'

/** Settings under `account`. */
export const account = {
  address: setting(
    as.address,
    '',
    'Address that the key must have; perpd does not start with another. A remote signer needs it. Empty: whatever the key says.',
  ),
  keystore: setting(
    as.pathOrNone,
    '',
    'Encrypted file with the key (Web3 Secret Storage version 3), as `perpd keys new` makes it. Refused in the paper profile, which makes its own key; so are the other kinds of key.',
  ),
  passwordFd: setting(
    meaning(integer(-1, 1_023), (value) => (value < 0 ? undefined : value)),
    -1,
    'File descriptor that the password of the keystore is read from. -1: the systemd credential `perpd-password` when there is one, else a question at the terminal.',
  ),
  remoteSigner: setting(
    as.signerUrl,
    '',
    'Address of a signer that holds the key, JSON-RPC as Web3Signer speaks it (eth_accounts, eth_signTypedData). What it signs is verified here before, its signature after.',
  ),
  remoteSignerTokenFile: setting(
    as.pathOrNone,
    '',
    'File with a token that is sent to the remote signer as `authorization: Bearer ...`; guarded as a key file.',
  ),
  remoteSignerTimeoutMs: setting(ms(50, 60_000), 5_000, 'Longest wait for a remote signature, ms.'),
  keyFile: setting(
    as.pathOrNone,
    '',
    'File with the bare key, for development; needs account.acceptRawKey. The variable PERPD_PRIVATE_KEY may hold the key instead.',
  ),
  acceptRawKey: setting(
    flag,
    false,
    'Accept a key that no password guards, in account.keyFile or PERPD_PRIVATE_KEY. For trials with small amounts.',
  ),
  owner: setting(
    as.address,
    '',
    'Account to trade when the key is a delegated one that its owner approved (`perpd subaccount`), as is recommended for real money: the key can then only make orders of that account. Empty: the key is the own key of the account.',
  ),
  approvalFile: setting(
    as.path,
    './var/{profile}/approval.json',
    "The owner's signed approval of the delegated key, as `perpd subaccount approve` writes it; read again while the daemon runs.",
  ),
  adoptInitial: setting(
    flag,
    false,
    'Adopt what the account held and what rested there before perpd first looked at it. Off: it is shown once, and increases on its market wait for `perpd discrepancies adopt --all --before START`. What happens later always waits.',
  ),
  warnActions: setting(
    integer(0, 1_000_000),
    100,
    'Actions left of the approval, beyond what closing needs, from which on every hour is warned.',
  ),
  warnHours: setting(
    integer(0, 8_760),
    48,
    'Hours before the end of the approval from which on every hour is warned.',
  ),
  reserveActions: liveSetting(
    integer(0, 1_000_000),
    20,
    'Actions of the approval that no increase takes, beyond what closing everything needs; there the breaker `subaccount` opens.',
  ),
  reserveMinutes: liveSetting(
    integer(0, 525_600),
    60,
    'Minutes before the end of the approval at which the breaker `subaccount` opens: only reductions are made.',
  ),
  lane: setting(
    choice(laneNames),
    'order-chain',
    'How signed orders are handed in. `order-chain`: to the host that prepared them, which also chooses deadline and nonce. `relay`: as calldata of our own with our own short deadline, so that an unknown closes in minutes; after a lost answer only the chain knows.',
  ),
} satisfies Section

/** The same with all times in seconds. */
export function accountOf({ warnHours, reserveMinutes, ...same }: Typed<typeof account>) {
  return { ...same, warnSeconds: warnHours * 3600, reserveSeconds: reserveMinutes * 60 }
}
