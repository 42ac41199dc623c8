export const teardown = null;
export default function () { console.log('never'); }
