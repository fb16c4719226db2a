/** What hosts say of a delegated key: whether it has a right, and what is left of it. */
import type { SubaccountStatus } from '../../api/account/subaccounts.ts'
import type { Api } from '../../api/client.ts'
import type { CallOptions } from '../../api/transport/route.ts'
import { BaseError } from '../../base/errors.ts'
import type { Address } from '../../protocol/address.ts'

/** What is left of the key's right, as a host says now. Throws what reading throws. */
export async function statusOf(
  api: Api,
  account: Address,
  subaccountAddress: Address,
  options?: CallOptions,
): Promise<SubaccountStatus> {
  return (await api.getSubaccountStatus({ account, subaccountAddress }, { ...options, isFresh: true })).value
}

/** What one host says of the key; no status when it did not answer. */
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

/** Whether every host that answers says that the key has no right, and one does. */
export function isGone(looks: readonly HostStatus[]): boolean {
  const answers = looks.flatMap(({ status }) => (status === undefined ? [] : [status]))
  return answers.length > 0 && answers.every(({ isActive }) => !isActive)
}
