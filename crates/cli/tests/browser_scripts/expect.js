// Compares values, and logs differences.
let compared = 0;

export async function expect(name, wanted, work) {
  compared += 1;
  let got;
  try {
    got = await work();
  } catch (error) {
    got = `threw ${error.name}: ${error.message}`;
  }
  const matches = wanted instanceof RegExp ? wanted.test(String(got)) : JSON.stringify(got) === JSON.stringify(wanted);
  if (!matches) console.error(`WRONG ${name}: ${JSON.stringify(got)}, not ${wanted instanceof RegExp ? wanted : JSON.stringify(wanted)}`);
}

export function finish() {
  console.log(`COMPARED ${compared}`);
}
