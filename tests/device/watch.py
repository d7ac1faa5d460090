"""Who looks on while a step runs: nobody, a clock, or one who notes the most memory of each moment.

The moments of a step, in their order: layers_forward, loss_forward, loss_backward (until the gradient of the logits is
there), head_backward (of the last hidden values), last_layer_backward, other_layers_backward, embedding_backward,
update.  The peak of a step is the largest of them."""
import card


class Nobody:
    def gradient(self, tensor, _moment):
        return tensor

    def layers_begin(self):
        pass

    def layers_end(self):
        self.end("forward")

    def backward_end(self):
        self.end("backward")

    def end(self, _moment):
        pass


class Clock(Nobody):
    """Seconds of forward pass, loss, backward pass and update of each step."""

    def __init__(self):
        self.instants = []

    def end(self, moment):
        self.instants.append((moment, card.instant()))

    def steps_s(self):
        """[{part: seconds}] of each step, once the device has ended all of them."""
        steps = []
        for (_, before), (moment, after) in zip([(None, None)] + self.instants, self.instants):
            if moment == "start":
                steps.append({})
            else:
                steps[-1][moment] = steps[-1].get(moment, 0) + card.seconds_between(before, after)
        return steps


class Moments(Nobody):
    """The most bytes allocated in each moment, and what is there before and after the layers' forward pass."""

    def __init__(self):
        self.peak_B, self.before_layers_B, self.after_layers_B = {}, 0, 0

    def end(self, moment):
        if moment != "start":
            self.peak_B[moment] = max(self.peak_B.get(moment, 0), card.peak_B())
        card.reset_peak()

    def gradient(self, tensor, moment):
        tensor.register_hook(lambda _: self.end(moment))
        return tensor

    def layers_begin(self):
        self.before_layers_B = card.allocated_B()

    def layers_end(self):
        self.after_layers_B = card.allocated_B()
        self.end("layers_forward")

    def backward_end(self):
        self.end("embedding_backward")
