/**
 * Wrong arguments in every place of a call, for tables over exported functions.
 *
 * @module
 */

/** Values that hardly any argument should be, by name. */
const WRONG_VALUES: Readonly<Record<string, unknown>> = {
  undefined: undefined,
  null: null,
  "5": 5,
  '""': "",
  "{}": {},
  "[]": [],
  NaN: NaN,
  "() => {}": () => {},
};

/** A call to try. */
export interface Subject {
  /** Arguments that it takes: one after the other is replaced. */
  readonly args: readonly unknown[];
  /** Calls with these arguments. */
  readonly call: (...args: never[]) => unknown;
  /** Ends what a call that went well began. */
  readonly over?: (value: never) => unknown;
}

/** Texts of errors that the platform throws over a value nobody checked. */
const UNCHECKED =
  /Cannot (read|set) propert|is not (a function|iterable|a constructor|async iterable)|Cannot (convert|destructure|use 'in')|undefined is not|Invalid value used|is not defined|private (member|method|field)|Illegal invocation/i;

/** Milliseconds after which a call counts as one that hangs. */
const PATIENCE_MS = 30_000;

/**
 * Calls each subject with each wrong value in each place.
 *
 * @returns What was answered badly: by an error of the platform, by something that is no error, or
 * by nothing at all.
 */
export async function misuse(subjects: Readonly<Record<string, Subject>>): Promise<string[]> {
  const bad: string[] = [];
  for (const [name, { args, call, over }] of Object.entries(subjects)) {
    for (let place = 0; place < args.length; place++) {
      for (const [shown, wrong] of Object.entries(WRONG_VALUES)) {
        const fault = await outcome(() => call(...args.with(place, wrong) as never[]), over);
        if (fault !== null) bad.push(`${name}, argument ${place + 1} = ${shown}: ${fault}`);
      }
    }
  }
  return bad;
}

/** Subjects for each option of a bag: `call` gets the bag with one wrong value. */
export function eachOption(
  label: string,
  names: readonly string[],
  call: (bag: never) => unknown,
  over?: (value: never) => unknown,
): Record<string, Subject> {
  return Object.fromEntries(names.map((name) => [`${label}({ ${name} })`, {
    args: [undefined],
    call: (value: unknown) => call({ [name]: value } as never),
    ...(over === undefined ? {} : { over }),
  }]));
}

/** Ends a client, a server or a stream, if there is one. */
export async function end(value: { close?: () => unknown } | null | undefined): Promise<void> {
  await value?.close?.();
}

async function outcome(call: () => unknown, over?: Subject["over"]): Promise<string | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), PATIENCE_MS);
  });
  try {
    const value = await Promise.race([call(), late]);
    if (value === "late") return "hangs";
    await over?.(value as never);
    return null;
  } catch (error) {
    if (!(error instanceof Error)) return `threw ${typeof error}`;
    return UNCHECKED.test(error.message) ? `${error.name}: ${error.message}` : null;
  } finally {
    clearTimeout(timer);
  }
}
