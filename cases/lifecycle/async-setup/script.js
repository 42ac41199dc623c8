export async function setup() { await Promise.resolve(); return { ready: 'yes' }; }
export default function (data) { console.log(data.ready); }
export async function teardown(data) { await null; console.log('bye', data.ready); }
