#pragma once

/// All optimizers, learning-rate schedulers and gradient clipping.
#include <halfgrad/optim/adam.h>
#include <halfgrad/optim/adamw.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/optim/lr_scheduler.h>
#include <halfgrad/optim/one_cycle_lr.h>
#include <halfgrad/optim/optimizer.h>
#include <halfgrad/optim/sgd.h>
