/** An item of a {@linkcode LinkedList}. The fields belong to the list. */
export interface ListItem<T extends ListItem<T>> {
  /** The list it is in, or null. */
  list: LinkedList<T> | null;
  nextItem: T | null;
  previousItem: T | null;
}

/**
 * Items in the order they came, each of which can leave from anywhere at no cost: there may be a
 * hundred thousand requests that wait, and all may be given up at once.
 */
export class LinkedList<T extends ListItem<T>> {
  /** Items in it. */
  length = 0;
  /** The item that came first. */
  first: T | null = null;
  /** The item that came last. */
  last: T | null = null;

  /** Adds an item that is in no list, behind the others. */
  push(item: T): void {
    item.list = this;
    item.previousItem = this.last;
    if (this.last === null) this.first = item;
    else this.last.nextItem = item;
    this.last = item;
    this.length++;
  }

  /** Takes an item out. False if it is not in this list. */
  delete(item: T): boolean {
    if (item.list !== this) return false;
    const { nextItem, previousItem } = item;
    if (nextItem === null) this.last = previousItem;
    else nextItem.previousItem = previousItem;
    if (previousItem === null) this.first = nextItem;
    else previousItem.nextItem = nextItem;
    item.list = item.nextItem = item.previousItem = null;
    this.length--;
    return true;
  }

  /** Takes the first item out. */
  shift(): T | null {
    const { first } = this;
    if (first !== null) this.delete(first);
    return first;
  }

  /** Takes the last item out. */
  pop(): T | null {
    const { last } = this;
    if (last !== null) this.delete(last);
    return last;
  }

  /** A copy of the list. */
  items(): T[] {
    const items: T[] = [];
    for (let item = this.first; item !== null; item = item.nextItem) items.push(item);
    return items;
  }
}
