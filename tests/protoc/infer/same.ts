/** Fails to compile unless `T` is true. */
export type Expect<T extends true> = T;

type IsAny<T> = 0 extends 1 & T ? true : false;

/** Whether one type goes for the other and back, and no property of either is `any`. */
export type Same<A, B> = IsAny<A> extends true ? false
  : IsAny<B> extends true ? false
  : [A] extends [B] ? [B] extends [A] ? SameProperties<A, B> : false
  : false;

type SameProperties<A, B> = [A] extends [object]
  ? true extends { [K in keyof A]-?: K extends keyof B ? IsAny<A[K]> | IsAny<B[K]> : true }[keyof A]
    ? false
  : [keyof B] extends [keyof A] ? true
  : false
  : true;
