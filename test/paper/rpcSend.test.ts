/** Transactions on their way to the chain: nonces, replacement, what nodes refuse, the mempool's bounds, restarts, forks. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { type Hex, keccak256, parseTransaction, serializeTransaction } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { answerRpc } from '../../src/paper/rpc/jsonRpcServer.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { MAX_PER_ACCOUNT, MAX_POOLED } from '../../src/paper/transactions/transactionPool.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { contracts, ETHER, GWEI, orderOf, router, startWallet, type Wallet } from './classicSupport.ts'
import { type Any, manualClock, stranger, usdc, weth } from './support.ts'

let me: Wallet
beforeEach(async () => {
  me = await startWallet()
})
afterEach(() => me.paper.close())

const fees = { maxFeePerGas: GWEI, maxPriorityFeePerGas: 1000n, gas: 21_000n } as const
const raw = (fields: Any): Promise<Hex> =>
  me.account.signTransaction({
    type: 'eip1559',
    chainId: 42161,
    to: stranger.address,
    value: 1n,
    ...fees,
    ...fields,
  })
const sendRaw = (serializedTransaction: Hex) => me.wallet.sendRawTransaction({ serializedTransaction })
const sent = async (fields: Any) => sendRaw(await raw(fields))
const refusal = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'taken',
    (error) => error.walk((one: Any) => typeof one.code === 'number')?.message ?? String(error),
  )
const count = (blockTag: 'latest' | 'pending') =>
  me.node.getTransactionCount({ address: me.account.address, blockTag })

test('a transaction waits for the next block, and is shown on its way, in its block, and by its receipt', async () => {
  const hash = await sent({ nonce: 0 })
  const rpcRow = (await me.node.request({
    method: 'eth_getTransactionByHash',
    params: [hash],
  } as never)) as Any
  expect(rpcRow).toMatchObject({ hash, blockHash: null, blockNumber: null, nonce: '0x0', type: '0x2' })
  expect(await refusal(me.node.getTransactionReceipt({ hash }))).toContain('could not be found')
  expect([await count('latest'), await count('pending')]).toEqual([0, 1])
  me.paper.clock.move(1000)
  const receipt = await me.node.getTransactionReceipt({ hash })
  expect([await count('latest'), await count('pending')]).toEqual([1, 1])
  const transaction = await me.node.getTransaction({ hash })
  expect(transaction).toMatchObject({
    from: me.account.address.toLowerCase(),
    to: stranger.address.toLowerCase(),
    value: 1n,
    maxFeePerGas: GWEI,
    blockNumber: receipt.blockNumber,
  })
  // What the node tells is what was signed.
  const { r, s, yParity, maxFeePerGas, maxPriorityFeePerGas, gas, nonce, to, value } = transaction as Any
  const again = serializeTransaction(
    { type: 'eip1559', chainId: 42161, maxFeePerGas, maxPriorityFeePerGas, gas, nonce, to, value },
    { r, s, yParity },
  )
  expect(keccak256(again)).toBe(hash)
  const block = await me.node.getBlock({ blockNumber: receipt.blockNumber, includeTransactions: true })
  expect(block.transactions.map((one) => one.hash)).toEqual([hash])
  expect(block.gasUsed).toBe(21_000n)
})

test('viem waits for the receipt of what it sent', async () => {
  const hash = await me.wallet.sendTransaction({ to: stranger.address, value: 1n })
  const waiting = me.node.waitForTransactionReceipt({ hash, confirmations: 2 })
  me.paper.clock.move(2000)
  expect(await waiting).toMatchObject({ status: 'success', transactionHash: hash })
})

test('legacy transactions and those with access lists are taken too', async () => {
  const { maxFeePerGas: gasPrice } = fees
  const list = [{ address: usdc.toLowerCase() as Hex, storageKeys: [`0x${'01'.repeat(32)}` as Hex] }]
  const legacy = await me.send({ type: 'legacy', to: stranger.address, value: 1n, gasPrice, gas: 21_000n })
  const listed = await me.send({
    type: 'eip2930',
    to: stranger.address,
    value: 1n,
    gasPrice,
    gas: 25_300n,
    accessList: list,
  })
  expect([legacy.status, legacy.type, legacy.effectiveGasPrice]).toEqual(['success', 'legacy', gasPrice])
  expect([listed.status, listed.type, listed.gasUsed]).toEqual(['success', 'eip2930', 25_300n])
  expect(await me.node.getTransaction({ hash: listed.transactionHash })).toMatchObject({ accessList: list })
  const estimate = { account: me.account, to: stranger.address, value: 1n, accessList: list, gasPrice }
  expect(await me.node.estimateGas(estimate as Any)).toBe(25_300n)
})

test('a nonce that was used is too low, and the same transaction is known', async () => {
  const first = await raw({ nonce: 0 })
  const hash = await sendRaw(first)
  expect(await refusal(sendRaw(first))).toContain('already known')
  await me.mined(hash)
  expect(await refusal(sendRaw(first))).toContain('nonce too low: next nonce 1, tx nonce 0')
  expect(await refusal(sent({ nonce: 0, value: 2n }))).toContain('nonce too low')
})

test('a nonce with a gap before it waits until the gap is filled, and then all go in order', async () => {
  const late = [await sent({ nonce: 2 }), await sent({ nonce: 1 })]
  me.paper.clock.move(5000)
  expect([await count('latest'), await count('pending')]).toEqual([0, 0])
  const first = await sent({ nonce: 0 })
  expect(await count('pending')).toBe(3)
  me.paper.clock.move(1000)
  const receipts = await Promise.all(
    [first, ...late.reverse()].map((hash) => me.node.getTransactionReceipt({ hash })),
  )
  expect(receipts.map(({ transactionIndex }) => transactionIndex)).toEqual([0, 1, 2])
  expect(new Set(receipts.map(({ blockNumber }) => blockNumber)).size).toBe(1)
})

test('a transaction is replaced by one that offers a tenth more of both fees, and by no other', async () => {
  const old = await sent({ nonce: 0 })
  const offer = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) =>
    refusal(sent({ nonce: 0, value: 2n, maxFeePerGas, maxPriorityFeePerGas }))
  const underpriced = 'replacement transaction underpriced'
  expect(await offer(GWEI, 1000n)).toContain(underpriced)
  expect(await offer(2n * GWEI, 1000n)).toContain(underpriced)
  expect(await offer((GWEI * 110n) / 100n - 1n, 1100n)).toContain(underpriced)
  expect(await offer((GWEI * 110n) / 100n, 1099n)).toContain(underpriced)
  const next = await sent({
    nonce: 0,
    value: 3n,
    maxFeePerGas: (GWEI * 110n) / 100n,
    maxPriorityFeePerGas: 1100n,
  })
  expect(await refusal(me.node.getTransaction({ hash: old }))).toContain('could not be found')
  expect((await me.mined(next)).status).toBe('success')
  expect(await me.node.getBalance({ address: stranger.address })).toBe(50n * ETHER + 3n)
})

test('a transaction that offers less than the base fee waits, and can be replaced by one that pays it', async () => {
  const cheap = await sent({ nonce: 0, maxFeePerGas: 1000n, maxPriorityFeePerGas: 10n })
  me.paper.clock.move(60_000)
  expect(await refusal(me.node.getTransactionReceipt({ hash: cheap }))).toContain('could not be found')
  const paying = await sent({ nonce: 0, maxFeePerGas: GWEI, maxPriorityFeePerGas: 11n })
  expect((await me.mined(paying)).status).toBe('success')
})

test('what waits for three hours is forgotten', async () => {
  const hash = await sent({ nonce: 5 })
  me.paper.clock.move(3 * 3_600_000 + 1000)
  await sent({ nonce: 0 })
  expect(await refusal(me.node.getTransaction({ hash }))).toContain('could not be found')
})

test('money must cover the gas at its highest price and the value, of all that waits', async () => {
  const most = 21_000n * GWEI
  expect(await refusal(sent({ nonce: 0, value: 50n * ETHER - most + 1n }))).toContain(
    `insufficient funds for gas * price + value: balance ${50n * ETHER}, tx cost ${50n * ETHER + 1n}, overshot 1`,
  )
  await sent({ nonce: 0, value: 30n * ETHER })
  expect(await refusal(sent({ nonce: 1, value: 30n * ETHER }))).toContain('queued cost')
  const overdrawn = { account: me.account, to: stranger.address, value: 51n * ETHER }
  expect(await refusal(me.node.estimateGas(overdrawn))).toContain('insufficient funds')
  expect(await refusal(me.node.call(overdrawn))).toContain('insufficient funds for gas * price + value')
  await expect(me.wallet.sendTransaction({ to: stranger.address, value: 51n * ETHER })).rejects.toThrow()
})

test('a transaction whose money somebody took meanwhile is dropped', async () => {
  const hash = await sent({ nonce: 0, value: 40n * ETHER })
  const change = { address: me.account.address, balances: { ETH: '1' } }
  await me.paper.call('POST', `${me.paper.control}/accounts`, change)
  me.paper.clock.move(1000)
  expect(await refusal(me.node.getTransaction({ hash }))).toContain('could not be found')
  expect([await count('latest'), await count('pending')]).toEqual([0, 0])
})

test('what no node of the chain would take is refused with the text of the nodes', async () => {
  const good = await raw({ nonce: 0 })
  const cases: [Promise<Hex> | Hex, string][] = [
    [raw({ nonce: 0, gas: 20_999n }), 'intrinsic gas too low: gas 20999, minimum needed 21000'],
    [raw({ nonce: 0, data: '0x0001' }), 'intrinsic gas too low: gas 21000, minimum needed 21020'],
    [raw({ nonce: 0, gas: 32_000_001n }), 'exceeds block gas limit'],
    [raw({ nonce: 0, chainId: 1 }), 'invalid chain id for signer: have 1 want 42161'],
    [raw({ nonce: 0, to: null, data: '0x60', gas: 100_000n }), 'runs no contracts of others'],
    [
      me.account.signTransaction({
        type: 'legacy',
        to: stranger.address,
        gasPrice: GWEI,
        gas: 21_000n,
        nonce: 0,
      }),
      'only replay-protected (EIP-155) transactions allowed over RPC',
    ],
    ['0x', 'typed transaction too short'],
    ['0x03', 'transaction type not supported'],
    [`0x04${good.slice(4)}`, 'transaction type not supported'],
    ['0xc0', 'rlp: the transaction does not decode'],
    [`${good}00`, 'rlp: the transaction does not decode'],
    [good.slice(0, -2) as Hex, 'rlp: the transaction does not decode'],
    [`0x02${'ff'.repeat(131_072)}`, 'oversized data'],
    [serializeTransaction(parsedUnsigned(good)), 'invalid transaction v, r, s values'],
  ]
  for (const [one, text] of cases) expect(await refusal(sendRaw(await one))).toContain(text)
  expect(await count('pending')).toBe(0)
})

function parsedUnsigned(signed: Hex): Any {
  const { r: _r, s: _s, v: _v, yParity: _y, ...rest } = parseTransaction(signed as `0x02${string}`) as Any
  return rest
}

test('a tip above the fee is refused', async () => {
  // viem refuses to sign it: the fields are encoded with a fair tip, and then exchanged.
  const fair = await raw({ nonce: 0, maxFeePerGas: 1001n, maxPriorityFeePerGas: 1000n })
  const unfair = fair.replace('8203e88203e9', '8203e98203e8') as Hex
  expect(unfair).not.toBe(fair)
  expect(await refusal(sendRaw(unfair))).toContain('max priority fee per gas higher than max fee per gas')
})

test('a signature with the other s is refused: nobody can send the same transaction under another hash', async () => {
  const good = await raw({ nonce: 0 })
  const { s, yParity, ...rest } = parseTransaction(good as `0x02${string}`) as Any
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const twin = serializeTransaction(parsedUnsigned(good), {
    r: rest.r,
    s: `0x${(order - BigInt(s)).toString(16).padStart(64, '0')}`,
    yParity: 1 - yParity,
  })
  expect(await refusal(sendRaw(twin))).toContain('invalid sender')
})

test('a changed byte is no transaction of the account', async () => {
  const good = await raw({ nonce: 0, value: 77n })
  const before = await me.node.getBalance({ address: me.account.address })
  await refusal(sendRaw(good.replace(/4d80c0/, '4e80c0') as Hex))
  me.paper.clock.move(2000)
  expect(await me.node.getBalance({ address: me.account.address })).toBe(before)
  expect(await count('pending')).toBe(0)
})

test('an account has a bounded number of transactions that wait, and so has the chain', async () => {
  for (let nonce = 1; nonce <= MAX_PER_ACCOUNT; nonce += 1) await sent({ nonce, gas: 21_000n })
  expect(await refusal(sent({ nonce: 0 }))).toContain('account limit exceeded')
  const { mempool } = me.paper.venue.venueState
  const [some] = mempool.values()
  if (some === undefined) throw new Error('nothing waits')
  for (let i = mempool.size; i < MAX_POOLED; i += 1) {
    const hash: Hex = `0x${i.toString(16).padStart(64, '0')}`
    mempool.set(hash, { ...some, hash, nonce: 1000 + i })
  }
  // What waits behind a gap makes room for one that can be mined.
  const other = privateKeyToAccount(generatePrivateKey())
  const from = (nonce: number) =>
    other.signTransaction({
      type: 'eip1559',
      chainId: 42161,
      to: stranger.address,
      value: 1n,
      ...fees,
      nonce,
    })
  expect(await refusal(sendRaw(await from(0)))).toBe('taken')
  expect(mempool.size).toBe(MAX_POOLED)
  // And when everything could be mined, one more is refused.
  mempool.clear()
  for (let i = 0; i < MAX_POOLED; i += 1) {
    const hash: Hex = `0x${i.toString(16).padStart(64, '0')}`
    const address: Hex = `0x${i.toString(16).padStart(40, '0')}`
    mempool.set(hash, { ...some, hash, nonce: 0, signed: { ...some.signed, from: address } })
  }
  expect(await refusal(sendRaw(await from(1)))).toContain('txpool is full')
})

test('a restarted venue still has what waits, what was mined, and the nonces', async () => {
  const stateFile = join(mkdtempSync(join(tmpdir(), 'perpd-send-')), 'venue.json')
  const first = await startWallet({ stateFile })
  await first.approve(usdc, 5n)
  const hash = await first.wallet.sendTransaction({
    to: stranger.address,
    value: 7n,
    nonce: 2,
    ...fees,
  })
  // The log has it before a save does: what follows is a kill.
  const killed = createVenue({ clock: first.paper.clock, chain: chains.arbitrum, stateFile })
  expect(killed.venueState.mempool.has(hash)).toBe(true)
  expect(killed.venueState.accounts.get(first.account.address.toLowerCase())).toBeUndefined()
  first.paper.clock.move(1000)
  killed.advance()
  expect(killed.venueState.accounts.get(first.account.address.toLowerCase())?.nonce).toBe(1)
  killed.save()
  const again = createVenue({ clock: first.paper.clock, chain: chains.arbitrum, stateFile })
  const of = (method: string, params: unknown[]) =>
    JSON.parse(answerRpc(again.venueState, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })) ?? '')
      .result
  expect(of('eth_getTransactionCount', [first.account.address, 'latest'])).toBe('0x1')
  expect(of('eth_getTransactionByHash', [hash])).toMatchObject({
    nonce: '0x2',
    blockNumber: null,
    value: '0x7',
  })
  await first.paper.close()
})

test('a reorganisation takes a transaction out and brings it back; dropped for good, its nonce is free again', async () => {
  const hash = await sent({ nonce: 0 })
  const before = await me.mined(hash)
  const reorg = (body: object) => me.paper.call('POST', `${me.paper.control}/reorg`, body)
  await reorg({ blocks: 6, returnAfterBlocks: 3 })
  expect([await count('latest'), await count('pending')]).toEqual([0, 1])
  me.paper.clock.move(2000)
  const after = await me.node.getTransactionReceipt({ hash })
  expect(after.blockNumber).toBeGreaterThan(before.blockNumber)
  expect(after.effectiveGasPrice).toBe(before.effectiveGasPrice)
  expect(await count('latest')).toBe(1)
  await reorg({ blocks: 20, transactions: 'drop' })
  expect([await count('latest'), await count('pending')]).toEqual([0, 0])
  expect((await me.mined(await sent({ nonce: 0, value: 9n }))).status).toBe('success')
})

test('both endpoints take transactions; one that lags does not show them yet', async () => {
  await me.paper.call('POST', `${me.paper.control}/faults`, { rpcLagBlocks: 16 })
  const ask = async (index: number, method: string, params: unknown[]): Promise<Any> => {
    const call = { jsonrpc: '2.0', id: 1, method, params }
    return (await me.paper.call('POST', me.paper.served.rpc[index] ?? '', call)).body.result
  }
  const hash = await ask(1, 'eth_sendRawTransaction', [await raw({ nonce: 0 })])
  me.paper.clock.move(1000)
  const counts = () =>
    Promise.all([0, 1].map((i) => ask(i, 'eth_getTransactionCount', [me.account.address, 'latest'])))
  expect(await counts()).toEqual(['0x1', '0x0'])
  expect(await ask(1, 'eth_getTransactionReceipt', [hash])).toBeNull()
  me.paper.clock.move(4000)
  expect(await counts()).toEqual(['0x1', '0x1'])
})

test('no raw transaction and no call of any shape makes the endpoint fail', async () => {
  const clock = manualClock()
  const { venueState } = createVenue({ clock, chain: chains.arbitrum, seed: 7 })
  const hex = (max: number) =>
    fc.uint8Array({ maxLength: max }).map((bytes) => Buffer.from(bytes).toString('hex'))
  const real = await raw({ nonce: 0, data: router.multicall(router.sendWnt(1n)).data, gas: 1_000_000n })
  const broken = fc
    .tuple(fc.nat(real.length - 3), fc.stringMatching(/^[0-9a-f]{1,8}$/))
    .map(([at, digits]) => `${real.slice(0, at + 2)}${digits}${real.slice(at + 2 + digits.length)}`)
  const selectors = [
    'ac9650d8',
    '7d39aaf1',
    'e6d66ac8',
    'f59c48eb',
    'dd5baad2',
    '7489ec23',
    'd59922b0',
    '095ea7b3',
    'a9059cbb',
    '01ac4293',
  ]
  const word = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    fc.constantFrom(0n, 1n, 32n, 64n, 96n, 128n, 2n ** 255n, BigInt(usdc), BigInt(contracts.orderVault)),
  )
  const data = fc
    .tuple(fc.constantFrom(...selectors), fc.array(word, { maxLength: 24 }), hex(5))
    .map(
      ([selector, words, rest]) =>
        `0x${selector}${words.map((one) => one.toString(16).padStart(64, '0')).join('')}${rest}`,
    )
  const loose = fc.oneof(
    fc.constantFrom('0x', '0x0', '0x01', usdc, null, 7, {}, []),
    hex(40).map((one) => `0x${one}`),
  )
  const call = fc.record(
    {
      from: fc.oneof(fc.constant(me.account.address), loose),
      to: fc.oneof(fc.constantFrom(usdc, weth, ...Object.values(contracts)), loose),
      data: fc.oneof(data, loose),
      value: fc.oneof(fc.constantFrom('0x1', '0xde0b6b3a7640000', `0x${'f'.repeat(64)}`), loose),
      gas: fc.oneof(fc.constantFrom('0x5208', '0x1e8480'), loose),
      maxFeePerGas: fc.oneof(fc.constantFrom('0x1', '0x3b9aca00'), loose),
      accessList: fc.oneof(fc.constantFrom([], [{}], [{ address: usdc, storageKeys: [1] }]), loose),
    },
    { requiredKeys: ['to', 'data'] },
  )
  const request = fc.oneof(
    fc
      .oneof(
        broken,
        hex(300).map((one) => `0x${one}`),
        hex(120).map((one) => `0x02f8${one}`),
        loose,
      )
      .map((one) => ['eth_sendRawTransaction', [one]] as const),
    fc
      .tuple(fc.constantFrom('eth_call', 'eth_estimateGas'), call)
      .map(([method, one]) => [method, [one, 'latest']] as const),
  )
  const before = JSON.stringify([...venueState.orders, ...venueState.accounts.keys()])
  fc.assert(
    fc.property(request, ([method, params]) => {
      const answer = JSON.parse(
        answerRpc(venueState, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })) ?? '',
      )
      if (answer.error === undefined) expect(answer.result).toMatch(/^0x/)
      else expect([-32602, -32000, 3]).toContain(answer.error.code)
    }),
    { seed: 2026, numRuns: 4000 },
  )
  expect(JSON.stringify([...venueState.orders, ...venueState.accounts.keys()])).toBe(before)
})

test('no transaction makes money or loses it: what accounts, contracts, orders and gas have is the same sum', async () => {
  const clock = manualClock()
  const { venueState, advance } = createVenue({ clock, chain: chains.arbitrum, seed: 7 })
  clock.move(1000)
  const others = [stranger, privateKeyToAccount(`0x${'33'.repeat(32)}`)]
  const native = '0x0000000000000000000000000000000000000000'
  const coins = [native, weth.toLowerCase()]
  const start = () => {
    let sum = 0n
    for (const account of [me.account, ...others]) {
      const balances = venueState.accounts.get(account.address.toLowerCase())?.balances
      for (const coin of coins) sum += balances?.get(coin) ?? (coin === native ? 50n * ETHER : 0n)
    }
    for (const [key, amount] of venueState.contractHoldings)
      if (coins.some((coin) => key.endsWith(coin))) sum += amount
    for (const { params } of venueState.orders.values()) sum += params.numbers.executionFee
    for (const { params } of venueState.orders.values()) {
      if (params.addresses.initialCollateralToken === weth) sum += params.numbers.initialCollateralDeltaAmount
    }
    for (const { paid } of venueState.blockChain.transactions)
      sum += BigInt(paid?.gasUsed ?? 0) * (paid?.gasPrice ?? 0n)
    return sum
  }
  const total = start()
  const amount = fc.constantFrom(0n, 1n, 10n ** 14n, 10n ** 15n, 3n * 10n ** 15n, 5n * 10n ** 15n)
  const place = fc.constantFrom(contracts.orderVault, stranger.address, contracts.exchangeRouter)
  const order = fc.tuple(amount, fc.constantFrom(usdc, weth)).map(([executionFee, initialCollateralToken]) =>
    router.create(
      orderOf(me.account.address, {
        orderType: 3,
        addresses: { initialCollateralToken },
        numbers: { triggerPrice: 1n, executionFee },
      }),
    ),
  )
  const step = fc.oneof(
    { arbitrary: order.map((create) => [router.sendWnt(10n ** 15n), create]), weight: 4 },
    { arbitrary: order.map((create) => [create]), weight: 1 },
    { arbitrary: fc.tuple(amount, place).map(([wei, to]) => [router.sendWnt(wei, to)]), weight: 1 },
    { arbitrary: fc.tuple(amount, place).map(([wei, to]) => [router.sendTokens(wei, weth, to)]), weight: 1 },
    { arbitrary: amount.map((units) => [router.sendTokens(units, usdc)]), weight: 1 },
  )
  const sentOnce = fc.record({
    steps: fc.array(step, { maxLength: 4 }).map((lists) => lists.flat()),
    value: amount,
    gas: fc.constantFrom(100_000n, 8_000_000n),
  })
  let nonce = 0
  let reverted = 0
  await fc.assert(
    fc.asyncProperty(sentOnce, async ({ steps, value, gas }) => {
      const work = { ...router.multicall(...steps), value, gas }
      const serialized = await raw({ ...work, nonce })
      const answer = JSON.parse(
        answerRpc(
          venueState,
          JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransaction', params: [serialized] }),
        ) ?? '',
      )
      expect(answer.error).toBeUndefined()
      nonce += 1
      clock.move(1000)
      advance()
      if (venueState.blockChain.transactions.at(-1)?.revertData !== undefined) reverted += 1
      expect(start()).toBe(total)
    }),
    { seed: 11, numRuns: 200, endOnFailure: true },
  )
  // Both kinds were tried.
  expect(reverted).toBeGreaterThan(20)
  expect(venueState.orders.size).toBeGreaterThan(5)
})
