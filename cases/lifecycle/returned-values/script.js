export const options = { iterations: 3 };
export default function () { return [5, Promise.resolve('x'), { then: (done) => { console.log('thenable'); done(); } }][__ITER]; }
