/** The real paper venue with a state file, killed with SIGKILL before it saved: what it answered, it still knows. */
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, expect, test } from 'vitest'
import { killLeftOver, type PaperHosts, perpd, scratch, until } from './processes.ts'

afterEach(killLeftOver)

const owner = privateKeyToAccount(`0x${'31'.repeat(32)}`)
const usdc = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'

// biome-ignore lint/suspicious/noExplicitAny: a test reads the wire freely
type Any = any

async function start(stateFile: string) {
  const running = perpd(['paper', '--print-hosts', '--state', stateFile, '--paper.traders=0'])
  const printed = await until(
    'the paper venue prints its addresses',
    () => {
      try {
        return JSON.parse(running.stdout()) as { readonly arbitrum: PaperHosts }
      } catch {
        return undefined
      }
    },
    { seen: running.said },
  )
  const [api = ''] = printed.arbitrum.api
  const post = async (path: string, body: unknown): Promise<Any> =>
    (
      await fetch(api + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).json()
  return { running, post }
}

const path = (step: string): string => `/gmx-account/withdraw/cross-chain/${step}`

test('withdrawals that were prepared and submitted survive a kill', async () => {
  const folder = scratch()
  try {
    const stateFile = join(folder.path, 'world.json')
    const first = await start(stateFile)
    const bridgeOutParams = {
      token: usdc,
      amount: '500000',
      minAmountOut: '1',
      provider: '0xe8CDF27AcD73a434D661C84887215F7598e7d0d3',
      data: `0x${(30184).toString(16).padStart(64, '0')}`,
    }
    const request = { srcChainId: 8453, account: owner.address, bridgeOutParams }
    const unsent = await first.post(path('prepare'), request)
    const sent = await first.post(path('prepare'), request)
    const submitted = await first.post(path('submit'), {
      ...request,
      signature: await owner.signTypedData(sent.payload.typedData),
      relayParamsPayload: sent.payload.relayParams,
      relayerFeeTokenAddress: sent.payload.gasPaymentParams.relayerFeeTokenAddress,
      relayerFeeAmount: sent.payload.gasPaymentParams.relayerFeeAmount,
      requestId: sent.requestId,
    })
    expect(submitted.status).toBe('relay_accepted')
    first.running.child.kill('SIGKILL')
    expect(await first.running.ended).toBe('SIGKILL')

    const second = await start(stateFile)
    const statusOf = async ({ requestId }: Any): Promise<Any> => second.post(path('status'), { requestId })
    expect((await statusOf(unsent)).status).toBe('prepared')
    const landed = await until('the withdrawal lands', async () => {
      const status = await statusOf(sent)
      return status.txHash === undefined ? undefined : status
    })
    expect(landed).toMatchObject({ status: 'created', taskId: submitted.taskId })
    second.running.child.kill('SIGTERM')
    await second.running.ended
  } finally {
    folder.remove()
  }
})
