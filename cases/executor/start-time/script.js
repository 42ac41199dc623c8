export const options = { scenarios: {
  late: { executor: 'shared-iterations', startTime: '400ms', exec: 'late' },
  early: { executor: 'shared-iterations', exec: 'early' },
} };
const begun = Date.now();
export function early() { console.log('early'); }
export function late() { console.log('late', Date.now() - begun >= 395); }
