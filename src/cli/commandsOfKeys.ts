/** Commands about keys and delegated keys: their flags and help. */
import type { Command } from './call/command.ts'

const keystoreFile = {
  name: 'file',
  value: 'FILE',
  doc: 'the keystore; account.keystore when not given',
} as const
const passwordFd = {
  name: 'password-fd',
  value: 'N',
  doc: 'read the password from this open file descriptor instead of asking',
} as const
const delegatedKey = {
  name: 'subaccount',
  value: 'ADDRESS',
  doc: "address of the delegated key; the configured key's when not given",
} as const

/** Makes and shows key files, and lets a delegated key trade. */
export const keyCommands: readonly Command[] = [
  {
    name: 'keys new',
    summary: 'Make a new key in an encrypted file, and print its address.',
    details:
      'Only its owner can read the file, and an existing file is never replaced. The password is typed twice, or comes from\na file descriptor or the systemd credential perpd-password; never from an argument or the environment.',
    flags: [keystoreFile, passwordFd],
    examples: [
      'perpd keys new --file var/live.json',
      'perpd keys new --file var/live.json --password-fd 3 3< password',
    ],
    run: async (call) => (await import('./verbs/keysCommand.ts')).newKey(call),
  },
  {
    name: 'keys import',
    summary: 'Encrypt a key you have into a file, and print its address.',
    flags: [
      keystoreFile,
      { name: 'from', value: 'FILE', doc: 'file that holds the bare key; asked for when not given' },
      { name: 'key-fd', value: 'N', doc: 'read the bare key from this open file descriptor' },
      passwordFd,
    ],
    examples: [
      'perpd keys import --file var/live.json',
      'perpd keys import --file var/live.json --from bare.key',
    ],
    run: async (call) => (await import('./verbs/keysCommand.ts')).importKey(call),
  },
  {
    name: 'keys address',
    summary: 'Print the address of a key file.',
    flags: [
      keystoreFile,
      { name: 'verify', doc: 'open the file and compute the address instead of trusting its text' },
      passwordFd,
    ],
    examples: ['perpd keys address --file var/live.json', 'perpd keys address --file var/live.json --verify'],
    run: async (call) => (await import('./verbs/keysCommand.ts')).keyAddress(call),
  },
  {
    name: 'keys export',
    summary: 'Print the bare key of a key file, to a terminal only.',
    flags: [
      keystoreFile,
      passwordFd,
      { name: 'unsafe-stdout', doc: 'print it even if standard output is a file or a pipe' },
    ],
    examples: ['perpd keys export --file var/live.json'],
    run: async (call) => (await import('./verbs/keysCommand.ts')).exportKey(call),
  },
  {
    name: 'subaccount create',
    summary: 'Make a delegated key for the daemon, and print its address.',
    details:
      'A random key in an encrypted file, as perpd keys new makes it. Its owner approves it next.\nOn paper it is a bare key, in a separate file when the account already has its key.',
    flags: [keystoreFile, passwordFd],
    examples: ['perpd subaccount create --profile arbitrum --file var/arbitrum/delegated.json'],
    run: async (call) => (await import('./subaccount/subaccountCommand.ts')).createSubaccount(call),
  },
  {
    name: 'subaccount approve',
    summary:
      'Let a delegated key trade for its owner: build the approval, sign it here or elsewhere, store it.',
    details:
      'Run it again before the end to renew it. With --out nothing is signed here: the file is for a wallet to sign\n(eth_signTypedData_v4); bring the signature back with --request FILE --signature FILE.',
    flags: [
      delegatedKey,
      { name: 'days', value: 'N', doc: 'days until it expires; 7 when not given' },
      {
        name: 'actions',
        value: 'N',
        doc: 'further orders, changes and cancels that it allows; 1000 when not given',
      },
      {
        name: 'up-to',
        value: 'N',
        doc: 'instead of --actions: the total number of actions, as it is signed',
      },
      { name: 'owner-keystore', value: 'FILE', doc: "keystore with the owner's key, for this one signature" },
      passwordFd,
      { name: 'out', value: 'FILE', doc: 'write the message for the owner to sign elsewhere' },
      { name: 'request', value: 'FILE', doc: 'the unsigned request that --out wrote' },
      { name: 'signature', value: 'FILE', doc: "the owner's signature over it: 0x and 130 hex digits" },
    ],
    examples: [
      'perpd subaccount approve --days 7 --actions 300',
      'perpd subaccount approve --profile arbitrum --account.keystore var/live.json --account.owner 0xYOURS --out ask.json',
      'perpd subaccount approve --request ask.json --signature answer',
    ],
    run: async (call) => (await import('./subaccount/subaccountCommand.ts')).approveSubaccount(call),
  },
  {
    name: 'subaccount status',
    summary: 'Show the remaining approval of the delegated key.',
    flags: [delegatedKey],
    examples: [
      'perpd subaccount status',
      'perpd subaccount status --profile arbitrum --account.owner 0xYOURS',
    ],
    run: async (call) => (await import('./subaccount/subaccountCommand.ts')).subaccountStatus(call),
  },
  {
    name: 'subaccount revoke',
    summary: 'Revoke a delegated key: remove the approval, and end it on the chain through the relay.',
    details:
      "The owner signs the removal here (--owner-keystore; on paper always) or elsewhere (--out, then --request and\n--signature). It is sent once and followed until every host says that the key is gone: exit code 0, else 1. Without any of\nthese, or with --transaction, it prints the transaction for the owner's wallet and sends nothing.",
    flags: [
      delegatedKey,
      { name: 'owner-keystore', value: 'FILE', doc: "keystore with the owner's key, for this one signature" },
      passwordFd,
      { name: 'out', value: 'FILE', doc: 'write the message for the owner to sign elsewhere' },
      { name: 'request', value: 'FILE', doc: 'the unsigned request that --out wrote' },
      { name: 'signature', value: 'FILE', doc: "the owner's signature over it: 0x and 130 hex digits" },
      { name: 'transaction', doc: "print the transaction for the owner's wallet, and send nothing" },
    ],
    examples: [
      'perpd subaccount revoke --owner-keystore owner.json',
      'perpd subaccount revoke --transaction',
    ],
    run: async (call) => (await import('./subaccount/subaccountRevoke.ts')).revokeSubaccount(call),
  },
]
