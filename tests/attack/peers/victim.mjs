// deno-lint-ignore-file no-console explicit-module-boundary-types
/** Runs a client's exchange and tells how long its process stood still. */
export async function observe(exchange) {
  let stall = 0;
  let last = performance.now();
  let begun = false;
  const timer = setInterval(() => {
    const now = performance.now();
    if (begun) stall = Math.max(stall, now - last - 5);
    last = now;
  }, 5);
  // What a program does once at its start is no stall.
  await new Promise((resolve) => setTimeout(resolve, 200));
  begun = true;
  console.log("asking");
  let outcome = "ok";
  try {
    await exchange();
  } catch (error) {
    outcome = String(error?.message ?? error).slice(0, 80);
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  clearInterval(timer);
  console.log(`done ${JSON.stringify({ stall, outcome })}`);
}
