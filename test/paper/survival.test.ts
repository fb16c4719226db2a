/** What a restart keeps beside positions and orders: session keys, allowances, GMX accounts and their withdrawals. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { createVenue } from '../../src/paper/server/venue.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { type Any, manualClock, startVenue, trader, usdc } from './support.ts'

test('session keys, allowances, GMX accounts and withdrawals survive a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-survival-'))
  const stateFile = join(folder, 'world.json')
  const session = privateKeyToAccount(`0x${'33'.repeat(32)}`)
  const paper = await startVenue({ stateFile })
  try {
    await paper.call('POST', `${paper.control}/accounts`, {
      address: trader.address,
      allowances: { USDC: '1000' },
    })
    const { domain, types, message, primaryType } = (
      await paper.post('/subaccounts/approval/prepare', {
        account: trader.address,
        subaccountAddress: session.address,
        shouldAdd: true,
        expiresAt: '1900000000',
        maxAllowedCount: '9',
      })
    ).body
    const approval = {
      ...message,
      signature: await trader.signTypedData({ domain, types, message, primaryType }),
    }
    const order = (await paper.prepare({ subaccountAddress: session.address, subaccountApproval: approval }))
      .body
    await paper.post('/orders/txns/submit', {
      mode: 'express',
      requestId: order.requestId,
      from: trader.address,
      signature: await session.signTypedData(order.payload.typedData),
      eip712Data: {
        batchParams: order.payload.batchParams,
        relayParams: order.payload.relayParams,
        subaccountApproval: approval,
      },
    })
    const bridgeOutParams = {
      token: usdc,
      amount: '500000',
      minAmountOut: '1',
      provider: '0xe8CDF27AcD73a434D661C84887215F7598e7d0d3',
      data: `0x${(30184).toString(16).padStart(64, '0')}`,
    }
    const withdrawal = (
      await paper.post('/gmx-account/withdraw/cross-chain/prepare', {
        srcChainId: 8453,
        account: trader.address,
        bridgeOutParams,
      })
    ).body
    await paper.post('/gmx-account/withdraw/cross-chain/submit', {
      srcChainId: 8453,
      account: trader.address,
      signature: await trader.signTypedData(withdrawal.payload.typedData),
      bridgeOutParams,
      relayParamsPayload: withdrawal.payload.relayParams,
      relayerFeeTokenAddress: withdrawal.payload.gasPaymentParams.relayerFeeTokenAddress,
      relayerFeeAmount: withdrawal.payload.gasPaymentParams.relayerFeeAmount,
      requestId: withdrawal.requestId,
    })
    paper.clock.move(2500)
    const paths = [
      `/allowances?address=${trader.address}&spender=router`,
      `/balances/wallet?address=${trader.address}`,
    ]
    const posts: [string, Any][] = [
      ['/subaccounts/status', { account: trader.address, subaccountAddress: session.address }],
      ['/gmx-account/withdraw/cross-chain/status', { requestId: withdrawal.requestId }],
    ]
    const look = async (): Promise<Any[]> => [
      ...(await Promise.all(paths.map(async (path) => (await paper.get(path)).body))),
      ...(await Promise.all(posts.map(async ([path, body]) => (await paper.post(path, body)).body))),
    ]
    const before = await look()
    expect(before[2]).toMatchObject({ active: true, currentActionsCount: '1', approvalNonce: '1' })
    expect(before[3]).toMatchObject({ status: 'created' })
    const held = [...paper.venue.venueState.gmxAccounts]
    expect(held).toHaveLength(1)
    await paper.close()

    const again = createVenue({
      clock: manualClock(paper.clock.now()),
      chain: chains.arbitrum,
      settings: { keeperJitterMs: 0 },
      stateFile,
    })
    const ask = async (path: string, body?: Any): Promise<Any> => {
      const request = new Request(`http://venue.test/api/0/v1${path}`, {
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      })
      return (await again.fetch(request)).json()
    }
    const after = [
      ...(await Promise.all(paths.map((path) => ask(path)))),
      ...(await Promise.all(posts.map(([path, body]) => ask(path, body)))),
    ]
    expect(after).toEqual(before)
    expect([...again.venueState.gmxAccounts]).toEqual(held)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
