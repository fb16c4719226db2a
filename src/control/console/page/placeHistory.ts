/** The place that is shown, in the browser's address: its history leads back, and what is chosen in it survives a reload. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { addressOf, type Named, type Place, placeOf } from './pagePlace.ts'

/** The place that is shown; its part is drawn again when the address changes. */
export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const look = () => setHash(location.hash)
    look()
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [])
  return useMemo(() => placeOf(hash), [hash])
}

/** Leads to a place; Back leads to where the page was before. */
export function goTo(place: Named): void {
  location.hash = addressOf(place)
}
