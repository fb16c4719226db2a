/** Reads the hosts' statements about a delegated key: its right, and the remaining part of it. */
import type { SubaccountStatus } from '../../api/accounts/subaccounts.ts'
import type { Api } from '../../api/client.ts'
import type { CallOptions } from '../../api/transport/route.ts'
import { BaseError } from '../../base/errors.ts'
import type { Address } from '../../protocol/address.ts'

/** Reads the key's remaining right from a host now. Throws the errors of the read. */
export async function statusOf(
  api: Api,
  account: Address,
  subaccountAddress: Address,
  options?: CallOptions,
): Promise<SubaccountStatus> {
  return (await api.getSubaccountStatus({ account, subaccountAddress }, { ...options, isFresh: true })).value
}

/** One host's statement about the key; no status when it did not answer. */
export interface HostStatus {
  readonly host: string
  readonly status: SubaccountStatus | undefined
}

/** Asks every host once. Never rejects for what a network does. */
export async function statusAtAll(
  api: Api,
  owner: Address,
  subaccount: Address,
): Promise<readonly HostStatus[]> {
  return await Promise.all(
    api.hosts.api.map(async (host) => {
      try {
        return { host, status: await statusOf(api, owner, subaccount, { host }) }
      } catch (error) {
        if (!(error instanceof BaseError)) throw error
        return { host, status: undefined }
      }
    }),
  )
}

/** Tells whether every host that answers says that the key has no right, and at least one answers. */
export function isGone(looks: readonly HostStatus[]): boolean {
  const answers = looks.flatMap(({ status }) => (status === undefined ? [] : [status]))
  return answers.length > 0 && answers.every(({ isActive }) => !isActive)
}
