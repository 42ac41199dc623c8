export const setup = 42;
export default function () { console.log('ran'); }
