import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createExposureWindow } from '../../src/keys/exposureWindow.ts'
import { openGuard } from '../../src/keys/signingGuard.ts'

const WINDOW_SECONDS = 50

type Step =
  | { readonly kind: 'sign'; readonly addsUsd: bigint }
  | { readonly kind: 'forget'; readonly which: number }
  | { readonly kind: 'clock'; readonly bySeconds: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('sign' as const), addsUsd: fc.bigInt(0n, 5n) }),
  fc.record({ kind: fc.constant('forget' as const), which: fc.nat(30) }),
  fc.record({ kind: fc.constant('clock' as const), bySeconds: fc.integer({ min: -120, max: 120 }) }),
)

describe('the exposure that was signed in the last while', () => {
  it('is the sum over all that is younger than the window, however the clock goes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const window = createExposureWindow(WINDOW_SECONDS)
        const entries: { readonly atSeconds: number; readonly addsUsd: bigint }[] = []
        let nowSeconds = 1_000
        for (const each of steps) {
          if (each.kind === 'clock') nowSeconds += each.bySeconds
          if (each.kind === 'sign') {
            const entry = { atSeconds: nowSeconds, addsUsd: each.addsUsd }
            entries.push(entry)
            window.add(entry)
          }
          if (each.kind === 'forget') {
            const [gone] = entries.splice(each.which, 1)
            if (gone !== undefined) window.remove(gone)
          }
          const plain = entries
            .filter(({ atSeconds }) => atSeconds > nowSeconds - WINDOW_SECONDS)
            .reduce((sum, { addsUsd }) => sum + addsUsd, 0n)
          expect(window.sumAt(nowSeconds)).toBe(plain)
        }
      }),
      { seed: 36, numRuns: 500 },
    )
  })

  it('costs a signature no more after twenty thousand others', async () => {
    const guard = openGuard({
      horizonSeconds: 1_000,
      marginSeconds: 10,
      exposure: { capUsd: 20_000n, windowSeconds: 3_600 },
      now: () => 1_000_000,
    })
    const claim = (n: number) =>
      guard.claim(
        { intentId: `i${n}`, attempt: 1, deadlineSeconds: 1_500, addsUsd: 1n },
        `0x${n.toString(16).padStart(64, '0')}`,
      )
    const begun = process.cpuUsage()
    for (let n = 0; n < 20_000; n += 1) await claim(n)
    const { user } = process.cpuUsage(begun)
    // A walk over all of them for each takes ten times as long on any machine.
    expect(user).toBeLessThan(3_000_000)
    expect(() => claim(20_000)).toThrow(expect.objectContaining({ code: 'SIGN_EXPOSURE_CAP' }))
  })
})
