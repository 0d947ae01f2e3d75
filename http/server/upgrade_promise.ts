import { quiet } from "../message/promise.ts";

/** Errors of failed upgrades, which the server answers by itself. */
const failures = new WeakSet<object>();

/**
 * The promise an upgrade is awaited by. Handlers that go on with `then()` and catch nothing must not end the
 * process when a client sends no handshake: promises that follow are quiet about that error, and about
 * no other.
 */
export class UpgradePromise<T> extends Promise<T> {
  /** Follows an upgrade. */
  static follow<T>(upgrade: Promise<T>): Promise<T> {
    const follower = new UpgradePromise<T>((resolve, reject) => {
      upgrade.then(resolve, (error) => {
        if (typeof error === "object" && error !== null) failures.add(error);
        reject(error);
      });
    });
    return quiet(follower);
  }

  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const next = super.then(onFulfilled, onRejected);
    return typeof onRejected === "function" ? next : this.#mute(next);
  }

  override finally(onFinally?: (() => void) | null): Promise<T> {
    return this.#mute(super.finally(onFinally));
  }

  /** Keeps `next` quiet if it rejects because the upgrade failed. */
  #mute<N>(next: Promise<N>): Promise<N> {
    void super.then(undefined, (error) => {
      if (failures.has(error)) quiet(next);
    });
    return next;
  }
}
