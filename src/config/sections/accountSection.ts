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
    'Address that the key must have; perpd does not start with another. A remote signer needs it. Empty: the address of the key.',
  ),
  keystore: setting(
    as.pathOrNone,
    '',
    'Encrypted file with the key (Web3 Secret Storage version 3), as `perpd keys new` makes it. The paper profile refuses this and every other configured key, because it makes its own.',
  ),
  passwordFd: setting(
    meaning(integer(-1, 1_023), (value) => (value < 0 ? undefined : value)),
    -1,
    'File descriptor from which perpd reads the password of the keystore. -1: the systemd credential `perpd-password` when there is one, else a prompt at the terminal.',
  ),
  remoteSigner: setting(
    as.signerUrl,
    '',
    'Address of a signer that holds the key, with the JSON-RPC of Web3Signer (eth_accounts, eth_signTypedData). perpd verifies each message before it is signed, and the signature after.',
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
    'Accept a key without a password, in account.keyFile or PERPD_PRIVATE_KEY. For trials with small amounts.',
  ),
  owner: setting(
    as.address,
    '',
    'Account to trade with a delegated key that its owner approved (`perpd subaccount`); recommended for real money, because such a key can only make orders of that account. Empty: the key is the key of the account.',
  ),
  approvalFile: setting(
    as.path,
    './var/{profile}/approval.json',
    "The owner's signed approval of the delegated key, as `perpd subaccount approve` writes it; the daemon rereads it while it runs.",
  ),
  adoptInitial: setting(
    flag,
    false,
    'Adopt the positions and resting orders that the account had before perpd first read it. Off: perpd reports them once and blocks increases on their markets until `perpd discrepancies adopt --all --before START`. Later discrepancies always wait for an operator.',
  ),
  warnActions: setting(
    integer(0, 1_000_000),
    100,
    'Actions left of the approval, beyond those that closing needs, from which on perpd warns every hour.',
  ),
  warnHours: setting(
    integer(0, 8_760),
    48,
    'Hours before the end of the approval from which on perpd warns every hour.',
  ),
  reserveActions: liveSetting(
    integer(0, 1_000_000),
    20,
    'Actions of the approval that are reserved beyond those that closing everything needs; at this number the breaker `subaccount` opens.',
  ),
  reserveMinutes: liveSetting(
    integer(0, 525_600),
    60,
    'Minutes before the end of the approval at which the breaker `subaccount` opens: only reductions are made.',
  ),
  lane: setting(
    choice(laneNames),
    'order-chain',
    'How perpd submits signed orders. `order-chain`: to the host that prepared them, which also chooses deadline and nonce. `relay`: as our own calldata with a short deadline, so that an unknown order closes in minutes; after a lost answer only the chain can prove its end.',
  ),
} satisfies Section

/** The same with all times in seconds. */
export function accountOf({ warnHours, reserveMinutes, ...same }: Typed<typeof account>) {
  return { ...same, warnSeconds: warnHours * 3600, reserveSeconds: reserveMinutes * 60 }
}
