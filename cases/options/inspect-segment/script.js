export const options = { executionSegment: '1/4:1/2', executionSegmentSequence: '0,1/4,1/2,1' };
export default function () {}
