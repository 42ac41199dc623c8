export async function setup() { throw new Error('in setup'); }
export default function () { console.log('never'); }
export function teardown() { console.log('never'); }
