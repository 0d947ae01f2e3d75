import type { DescService } from "@bufbuild/protobuf";

/**
 * Services of a file by full name, if the compiler has read its text; never if it has not.
 *
 * @ignore
 */
type ServicesIn<File> = File extends { readonly "~types"?: infer Types }
  ? NonNullable<Types> extends { readonly services: infer Services } ? Services : never
  : never;

/** Names of a file's services: full names, and names without the package. */
export type ServiceName<File> = [ServicesIn<File>] extends [never] ? string
  : keyof ServicesIn<File> & string extends infer Full extends string ? Full | LastOf<Full>
  : never;

/** The service of that name; the only one where none is given. `DescService` if it is not known. */
export type ServiceIn<File, Name extends string> = [ServicesIn<File>] extends [never] ? DescService
  : string extends Name ? Only<ServicesIn<File>>
  : Named<ServicesIn<File>, Name>;

/** @ignore */
type Named<Services, Name extends string> = {
  [Full in keyof Services]: Full extends Name | `${string}.${Name}` ? Services[Full] : never;
}[keyof Services] extends infer Service extends DescService ? Service : DescService;

/** @ignore */
type Only<Services> = IsUnion<keyof Services> extends true ? DescService
  : Services[keyof Services] extends infer Service extends DescService ? Service
  : DescService;

type IsUnion<T, Whole = T> = [T] extends [never] ? false
  : T extends unknown ? [Whole] extends [T] ? false : true
  : never;

/** @ignore */
type LastOf<Full extends string> = Full extends `${string}.${infer Rest}` ? LastOf<Rest> : Full;
