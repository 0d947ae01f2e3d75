import { assertEquals } from "@std/assert";
import { LinkedList, type ListItem } from "../../../http/client/linked_list.ts";
import { Random } from "../../../support/random.ts";

class Item implements ListItem<Item> {
  list: LinkedList<Item> | null = null;
  nextItem: Item | null = null;
  previousItem: Item | null = null;
}

Deno.test("LinkedList does what an array does, whatever comes and goes", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = new Random(seed);
    const list = new LinkedList<Item>();
    const other = new LinkedList<Item>();
    const model: Item[] = [];
    for (let step = 0; step < 500; step++) {
      switch (random.below(6)) {
        case 0:
          assertEquals(list.shift() === (model.shift() ?? null), true);
          break;
        case 1:
          assertEquals(list.pop() === (model.pop() ?? null), true);
          break;
        case 2: {
          if (model.length === 0) break;
          const at = random.below(model.length);
          const [item] = model.splice(at, 1);
          assertEquals(other.delete(item!), false);
          assertEquals(list.delete(item!), true);
          assertEquals(list.delete(item!), false);
          break;
        }
        default: {
          const item = new Item();
          list.push(item);
          model.push(item);
        }
      }
      assertEquals(list.length, model.length);
      assertEquals(list.first === (model[0] ?? null), true);
      assertEquals(list.last === (model.at(-1) ?? null), true);
    }
    assertEquals(list.items().every((item, at) => item === model[at]), true);
  }
});
