/**
 * The plan of a fleet: which node should hold each account, and which one waits for it. Every node computes it from the same rows. It decides nothing about
 * safety: two nodes that see different rows try for the same lease, and one gets it.
 */

/** A node that lives. */
export interface FleetNode {
  readonly name: string
  /** Accounts whose key it can open and that no fault stopped there. */
  readonly can: readonly string[]
  readonly holds: readonly { readonly account: string; readonly epoch: number }[]
  /** Accounts for whose lease it waits. */
  readonly waits: readonly string[]
  /** True: it gives its accounts to others, and takes one only where nobody else can. */
  readonly isDraining: boolean
}

/** Rows from which the plan follows. */
export interface FleetView {
  /** Nodes that live, each name once. */
  readonly nodes: readonly FleetNode[]
  /** Node that an operator wants to hold an account, by account. */
  readonly wishes: ReadonlyMap<string, string>
}

/** The place of one account. */
export interface Placement {
  readonly account: string
  /** Node that should hold it now; undefined: no living node can. */
  readonly owner: string | undefined
  /** Node that waits for its lease meanwhile: it takes over when the owner dies, or gives it back; undefined: none. */
  readonly next: string | undefined
  /** True: the owner gives it to the next one, once that one waits. */
  readonly isMoving: boolean
}

/** Difference of the accounts of two nodes from which one account is moved. */
const UNEVEN = 2

/**
 * Plans. Each account that a living node can hold has one owner: its present holder, else the wished node, else one that waits, else the node with the fewest
 * accounts. At most one account moves at a time, and only while all others are held: off a draining node, to its wished node, or to even out.
 */
export function planFleet(view: FleetView): readonly Placement[] {
  const nodes = view.nodes.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const accounts = [...new Set(nodes.flatMap(({ can }) => can))].toSorted()
  const load = new Map(nodes.map(({ name }) => [name, 0]))
  const add = (name: string, count = 1): void => void load.set(name, (load.get(name) ?? 0) + count)
  const holders = new Map(accounts.map((account) => [account, holderOf(nodes, account)]))
  for (const holder of holders.values()) if (holder !== undefined) add(holder.name)

  /** Nodes that may take an account: those that drain only where no other can. */
  const takers = (account: string, but?: FleetNode): readonly FleetNode[] => {
    const able = nodes.filter((node) => node.can.includes(account) && node !== but)
    const staying = able.filter(({ isDraining }) => !isDraining)
    return staying.length > 0 || but !== undefined ? staying : able
  }
  const least = (from: readonly FleetNode[], more = new Map<string, number>()): FleetNode | undefined => {
    const weight = ({ name }: FleetNode): number => (load.get(name) ?? 0) + (more.get(name) ?? 0)
    return from.toSorted((one, other) => weight(one) - weight(other))[0]
  }
  const wished = (account: string, from: readonly FleetNode[]): FleetNode | undefined =>
    from.find(({ name }) => name === view.wishes.get(account))
  const waiting = (account: string, from: readonly FleetNode[]): readonly FleetNode[] =>
    from.filter(({ waits }) => waits.includes(account))

  const owners = new Map<string, string | undefined>()
  for (const account of accounts) {
    const holder = holders.get(account)
    if (holder !== undefined) continue
    const from = takers(account)
    const owner = wished(account, from) ?? least(waiting(account, from)) ?? least(from)
    owners.set(account, owner?.name)
    if (owner !== undefined) add(owner.name)
  }
  const isSettled = [...owners.values()].every((owner) => owner === undefined)
  const move = isSettled ? nextMove() : undefined

  /** The one move that comes next. */
  function nextMove(): { readonly account: string; readonly to: string } | undefined {
    const held = accounts.flatMap((account) => {
      const holder = holders.get(account)
      return holder === undefined ? [] : [{ account, holder, from: takers(account, holder) }]
    })
    for (const { account, holder, from } of held) {
      const to = wished(account, from) ?? least(from)
      if (holder.isDraining && to !== undefined) return { account, to: to.name }
    }
    for (const { account, from } of held) {
      const to = wished(account, from)
      if (to !== undefined) return { account, to: to.name }
    }
    const uneven = held.flatMap(({ account, holder, from }) => {
      const to = least(from)
      const isPinned = view.wishes.get(account) === holder.name
      if (to === undefined || isPinned) return []
      const difference = (load.get(holder.name) ?? 0) - (load.get(to.name) ?? 0)
      return difference >= UNEVEN ? [{ account, to: to.name, difference }] : []
    })
    return uneven.toSorted((one, other) => other.difference - one.difference)[0]
  }

  const heirs = new Map<string, number>()
  return accounts.map((account) => {
    const holder = holders.get(account)
    if (holder === undefined) return { account, owner: owners.get(account), next: undefined, isMoving: false }
    const isMoving = move?.account === account
    const from = takers(account, holder)
    const heir = wished(account, from) ?? waiting(account, from)[0] ?? least(from, heirs)
    const next = isMoving ? move.to : heir?.name
    if (next !== undefined) heirs.set(next, (heirs.get(next) ?? 0) + 1)
    return { account, owner: holder.name, next, isMoving }
  })
}

/** Returns the node that holds an account: of several that say so, the one with the newest epoch. */
function holderOf(nodes: readonly FleetNode[], account: string): FleetNode | undefined {
  const epochOf = ({ holds }: FleetNode): number =>
    holds.find((each) => each.account === account)?.epoch ?? Number.NEGATIVE_INFINITY
  const holding = nodes.filter(({ holds }) => holds.some((each) => each.account === account))
  return holding.toSorted((one, other) => epochOf(other) - epochOf(one))[0]
}

/** Tells whether a node should try for an account's lease, and keep it. */
export function isWantedAt(
  node: string,
  view: FleetView,
  { account, owner, next, isMoving }: Placement,
): boolean {
  if (next === node) return true
  if (owner !== node) return false
  const isAwaited = view.nodes.some(({ name, waits }) => name === next && waits.includes(account))
  return !(isMoving && isAwaited)
}
