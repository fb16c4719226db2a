/**
 * How smooth the web console's page is with 1,000 orders and 50 strategies: `node bench/consolePage.ts`. The page is the shipped one behind the
 * real control port, in a Chromium of this machine; what it shows is made up, and changes each second: every strategy's turn, ten orders,
 * ten lines of the log. All 1,000 rows are drawn and scrolled through meanwhile. It prints the time from frame to frame over 20 s, the
 * script's longest tasks, and how long the page takes from its log-in to its first rows.
 *
 * On a shared 2-core virtual machine without a graphics card, in November 2026: the first rows 0.34 s after the log-in; 1,147 frames with
 * a median of 16.7 ms, 95 % within 16.7 ms, 99 % within 33.3 ms, the longest 66.7 ms; five tasks over 50 ms, the longest 61 ms. Before orders were drawn in
 * groups it was 27 frames over 50 ms, and a task of 144 ms.
 */
import { createLevelTable } from '../src/monitor/log/levelTable.ts'
import { createLogRing } from '../src/monitor/log/logRing.ts'
import { openConsole } from '../test/control/browser.ts'
import { engine, operateToken, status } from '../test/control/door.ts'
import { armedState, executedState } from '../test/monitor/events.ts'
import { launchBrowser } from '../test/world/consoleBrowser.ts'

const [orders, strategies, measuredMs] = [1_000, 50, 20_000]
/** Rows that the page draws at once when more are asked for. */
const rowsAtOnce = 25

const startMs = Date.now()
const seconds = (): number => Math.floor((Date.now() - startMs) / 1_000)
const ring = createLogRing('bench')
const ten = Array.from({ length: 10 }, (_, at) => at)

/** Of the newest ten each second another reason. */
function orderOf(at: number) {
  const state = at % 2 === 0 ? executedState : armedState
  const intentId = at.toString(16).padStart(24, '0')
  const isChanging = at < 10
  const observedStatus = isChanging ? `look ${seconds()}` : 'created'
  const intent = { ...state.intent, intentId, acceptedAtMs: startMs - at * 1_000 }
  return { state: { ...state, intent }, label: 'pending' as const, observedStatus }
}

const [strategy] = status.strategies
if (strategy === undefined) throw new Error('The status has a strategy.')
const server = await openConsole(
  { clock: { now: Date.now, monotonicMs: () => performance.now() } },
  {
    engine: {
      ...engine,
      status: () => ({
        ...status,
        startedAtMs: startMs,
        nowMs: Date.now(),
        strategies: Array.from({ length: strategies }, (_, at) => ({
          ...strategy,
          name: `strategy-${at}`,
          ticks: seconds(),
          lastTickAtMs: Date.now(),
        })),
      }),
      intents: (query) =>
        Promise.resolve(
          Array.from({ length: Math.min(orders, query?.limit ?? orders) }, (_, at) => orderOf(at)),
        ),
    },
    recent: {
      levels: createLevelTable({ level: 'info', levels: [] }),
      log: ring,
      decisions: { all: () => [] },
      hosts: { all: () => [] },
      incidents: { open: () => [], blocking: () => [] },
    },
  },
)
const lines = setInterval(() => {
  for (const at of ten) {
    ring.keep({ atMs: Date.now(), level: 'info', word: 'order', text: `line ${at}`, event: 'strategy.said' })
  }
}, 1_000)
const browser = await launchBrowser()
try {
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } })
  await page.goto(`${server.localUrl}/console/#/orders`)
  await page.fill('input[name=token]', operateToken)
  const sinceMs = performance.now()
  await page.click('button.primary')
  await page.waitForSelector('#orders tbody tr')
  const firstMs = performance.now() - sinceMs
  for (let drawn = rowsAtOnce; drawn < 100; drawn += rowsAtOnce) await page.click('#orders > .tools button')
  await page.click('#orders > .tools button >> text=Load older')
  await page.waitForSelector('#orders .count >> text=1000')
  for (let drawn = 100; drawn < orders; drawn += rowsAtOnce) await page.click('#orders > .tools button')
  const rows = await page.locator('#orders tbody tr').count()
  const measured = await page.evaluate<{
    readonly frames: number[]
    readonly tasks: number[]
  }>(`new Promise((resolve) => {
    const frames = [], tasks = []
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map((each) => each.duration))).observe({ entryTypes: ['longtask'] })
    let last = performance.now()
    const end = last + ${measuredMs}
    let down = true
    const frame = (now) => {
      frames.push(now - last)
      last = now
      scrollBy(0, down ? 24 : -24)
      if (scrollY <= 0 || scrollY + innerHeight >= document.documentElement.scrollHeight) down = !down
      if (now < end) requestAnimationFrame(frame)
      else resolve({ frames, tasks })
    }
    requestAnimationFrame(frame)
  })`)
  const sorted = measured.frames.toSorted((one, other) => one - other)
  const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1)
  const over = measured.frames.filter((ms) => ms > 50).length
  process.stdout.write(
    [
      `${rows} rows of orders with ${strategies} strategies; first rows ${firstMs.toFixed(0)} ms after the log-in`,
      `${sorted.length} frames: median ${at(0.5)} ms, 95% ${at(0.95)} ms, 99% ${at(0.99)} ms, longest ${at(1)} ms; ${over} over 50 ms`,
      `${measured.tasks.length} tasks over 50 ms, longest ${Math.max(0, ...measured.tasks).toFixed(0)} ms`,
      '',
    ].join('\n'),
  )
} finally {
  clearInterval(lines)
  await browser.close()
  await server.close()
}
