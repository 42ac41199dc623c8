export const options = 12;
export default function () { console.log('ran'); }
