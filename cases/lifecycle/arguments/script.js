export const options = { iterations: 1 };
export function setup(...all) { console.log('setup', all.length); return [1, 2]; }
export default function (...all) { console.log('default', all.length, JSON.stringify(all), this === undefined || typeof this); }
export function teardown(...all) { console.log('teardown', all.length, JSON.stringify(all)); }
export function handleSummary(...all) { return { stdout: `summary ${all.length} ${typeof all[0]} ${JSON.stringify(all[0].setup_data)}\n` }; }
