/** The zone that times are shown in: a choice of this browser, named in the head of every page. */
import type { VNode } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import { html } from '../markup.ts'
import { showZone, type Zone, zoneName, zones } from '../shownTimes.ts'
import { texts } from '../texts.ts'

const zoneKey = 'perpd.zone'

/** The zone in force, and what changes to the other one. Whatever shows moments is drawn anew with the zone in its key. */
export function useZone(): readonly [Zone, () => void] {
  const [zone, setZone] = useState<Zone>(
    () => zones.find((each) => each === localStorage.getItem(zoneKey)) ?? 'utc',
  )
  showZone(zone)
  const change = useCallback(() => {
    const next = zone === 'utc' ? 'local' : 'utc'
    localStorage.setItem(zoneKey, next)
    setZone(next)
  }, [zone])
  return [zone, change]
}

/** Names the zone, and changes it when pressed. */
export function ZoneButton({
  zone,
  onChange,
}: {
  readonly zone: Zone
  readonly onChange: () => void
}): VNode {
  const name = zoneName(Date.now())
  const shown = zone === 'utc' ? name : texts.zone.local(name)
  const label = `${shown}. ${texts.zone.press[zone]}`
  return html`<button type="button" class="zone" aria-label=${label} title=${label} onClick=${onChange}>${shown}</button>`
}
