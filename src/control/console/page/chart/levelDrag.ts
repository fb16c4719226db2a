/** Takes a line of the chart with the mouse or a pen, follows it, and puts it back or lets it go. A finger moves no line: it pans. */

/** A line that is dragged, by the key of its level. */
export interface DragListener {
  /** The line that is within reach at a place from the upper edge of the chart, px; undefined: none. */
  reached(y: number): string | undefined
  /** A line was taken: nothing else may move meanwhile. */
  begun(key: string): void
  moved(key: string, y: number): void
  released(key: string, y: number): void
  putBack(key: string): void
}

/** Dragging in a place. */
export interface LevelDrag {
  /** Puts back what is being dragged. */
  cancel(): void
  isDragging(): boolean
  close(): void
}

/** Less than this is a click that shook, px. */
const leastPx = 2

/** Listens on a place whose child is the chart, before the chart does. */
export function createLevelDrag(place: HTMLElement, listener: DragListener): LevelDrag {
  let taken:
    | { readonly key: string; readonly pointerId: number; readonly fromY: number; y: number; frame: number }
    | undefined
  const yOf = (event: PointerEvent) => event.clientY - place.getBoundingClientRect().top

  function end(): typeof taken {
    const ended = taken
    taken = undefined
    if (ended === undefined) return undefined
    cancelAnimationFrame(ended.frame)
    if (place.hasPointerCapture(ended.pointerId)) place.releasePointerCapture(ended.pointerId)
    removeEventListener('keydown', onKey, true)
    place.classList.remove('taken')
    return ended
  }

  function leave(): void {
    if (taken === undefined) place.classList.remove('reached')
  }

  function cancel(): void {
    place.classList.remove('reached')
    const ended = end()
    if (ended !== undefined) listener.putBack(ended.key)
  }

  function onKey(event: KeyboardEvent): void {
    if (event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    cancel()
  }

  function onDown(event: PointerEvent): void {
    if (event.pointerType === 'touch' || event.button !== 0 || taken !== undefined) return
    const y = yOf(event)
    const key = listener.reached(y)
    if (key === undefined) return
    // The chart would begin to pan with the same press.
    event.preventDefault()
    event.stopPropagation()
    place.setPointerCapture(event.pointerId)
    place.classList.add('taken')
    taken = { key, pointerId: event.pointerId, fromY: y, y, frame: 0 }
    addEventListener('keydown', onKey, true)
    listener.begun(key)
  }

  function onMove(event: PointerEvent): void {
    const y = yOf(event)
    if (taken === undefined) {
      place.classList.toggle('reached', event.pointerType !== 'touch' && listener.reached(y) !== undefined)
      return
    }
    event.stopPropagation()
    taken.y = y
    cancelAnimationFrame(taken.frame)
    taken.frame = requestAnimationFrame(() => taken !== undefined && listener.moved(taken.key, taken.y))
  }

  function onUp(event: PointerEvent): void {
    if (taken === undefined) return
    event.stopPropagation()
    const { fromY } = taken
    const y = yOf(event)
    if (Math.abs(y - fromY) < leastPx) {
      cancel()
      return
    }
    const ended = end()
    if (ended !== undefined) listener.released(ended.key, y)
  }

  place.addEventListener('pointerdown', onDown, true)
  place.addEventListener('pointermove', onMove, true)
  place.addEventListener('pointerup', onUp, true)
  place.addEventListener('pointercancel', cancel, true)
  place.addEventListener('lostpointercapture', cancel, true)
  place.addEventListener('pointerleave', leave)
  return {
    cancel,
    isDragging: () => taken !== undefined,
    close() {
      cancel()
      place.removeEventListener('pointerdown', onDown, true)
      place.removeEventListener('pointermove', onMove, true)
      place.removeEventListener('pointerup', onUp, true)
      place.removeEventListener('pointercancel', cancel, true)
      place.removeEventListener('lostpointercapture', cancel, true)
      place.removeEventListener('pointerleave', leave)
    },
  }
}
