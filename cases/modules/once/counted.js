if (__VU === 1) console.log('counted runs');
export const n = 1;
