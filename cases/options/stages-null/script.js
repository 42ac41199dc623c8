export const options = { stages: [null] };
export default function () { console.log(1); }
