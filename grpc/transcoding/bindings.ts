import type { DescService } from "@bufbuild/protobuf";
import { methodFor } from "../wire/method.ts";
import { type Binding, bindingOf } from "./binding.ts";
import { HttpRuleError, rulesOf } from "./http_rule.ts";
import { type Match, type OtherMethods, TemplateTable } from "./table.ts";

/** Bindings of a service, in the order of its methods and rules. */
export function bindingsOf(service: DescService): Binding[] {
  return service.methods.flatMap((desc) =>
    rulesOf(desc).map((rule) => bindingOf(methodFor(desc), rule))
  );
}

/** The bindings of all services of a server, by their paths. */
export class Bindings {
  readonly #table = new TemplateTable<Binding>();
  readonly #limit: number;
  #count = 0;

  /** `limit` bindings at most. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Checks the rules of a service. Nothing changes until what it returns is called.
   *
   * @throws {HttpRuleError} If one is wrong, or requests could not be told from those of another one.
   */
  check(service: DescService): () => void {
    const bindings = bindingsOf(service);
    const own = new TemplateTable<Binding>();
    for (const binding of bindings) {
      const { method, verb, template } = binding;
      const twin = own.get(verb, template) ?? this.#table.get(verb, template);
      if (twin !== undefined) {
        throw new HttpRuleError(
          method.path,
          template.text,
          `${verb} requests of its path template must go to one rule: ${twin.method.path} has them by "${twin.template.text}"`,
        );
      }
      own.set(verb, template, binding);
    }
    const count = this.#count + bindings.length;
    if (count > this.#limit) {
      const { method, template } = bindings.at(-1)!;
      throw new HttpRuleError(
        method.path,
        template.text,
        `services must have <= ${this.#limit} rules in all (transcoding.maxRules), and these are ${count}`,
      );
    }
    return () => {
      this.#count = count;
      for (const binding of bindings) this.#table.set(binding.verb, binding.template, binding);
    };
  }

  /** The binding for a request. */
  find(verb: string, path: string): Match<Binding> | OtherMethods | null {
    return this.#table.find(verb, path);
  }
}
